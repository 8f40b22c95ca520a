import {
  getMetaData,
  hasMetaData,
  listMetaDataKeys,
  setMetaData,
  setMetaDataBatch,
} from '../../api/meta-data.ts'
import type { MetaDataOwner } from '../../api/meta-data.ts'
import { Refused } from '../../http/retry.ts'
import { withoutSecrets } from '../job-api.ts'
import { argument, Exit, JOB } from '../verb.ts'
import type { Flag, Flags, Verb } from '../verb.ts'

/** Scripts use this status to distinguish a missing key from other failures. */
const NOT_SET = 100
const OWNER: Readonly<Record<string, Flag>> = {
  job: JOB,
  build: {
    kind: 'text',
    summary: 'Another build than that of the job',
    variable: 'BUILDKITE_METADATA_BUILD_ID',
  },
}

const set: Verb = {
  name: 'meta-data set',
  usage: '<key> [value]',
  summary: 'Set a value of the build; it comes from standard input when absent.',
  flags: { job: JOB, 'redacted-vars': { kind: 'text', summary: 'Accepted, without effect' } },
  async run(call) {
    const { args, flags, io, api } = call
    const key = argument(call, 0, 'key')
    const value = args[1] ?? (await io.readInput())
    if (key.trim() === '' || value.trim() === '')
      throw new Exit(1, 'Neither the key nor the value may be blank.')
    await setMetaData(api(), flags.need('job'), { key, value: await withoutSecrets(io, value) })
  },
}

const setBatch: Verb = {
  name: 'meta-data set-batch',
  usage: '<key=value…>',
  summary: 'Set several values, all or none.',
  flags: { job: JOB, 'redacted-vars': { kind: 'text', summary: 'Accepted, without effect' } },
  async run({ args, flags, io, api }) {
    const lines = args.length > 0 ? args : (await io.readInput()).split('\n').filter((line) => line !== '')
    const items = await Promise.all(
      lines.map(async (line) => {
        const at = line.indexOf('=')
        const [key, value] = [line.slice(0, at), line.slice(at + 1)]
        if (at <= 0 || key.trim() === '' || value.trim() === '')
          throw new Exit(1, `"${line}" is not key=value.`)
        return { key, value: await withoutSecrets(io, value) }
      }),
    )
    if (items.length === 0) throw new Exit(1, 'There is nothing to set.')
    await setMetaDataBatch(api(), flags.need('job'), items)
  },
}

const get: Verb = {
  name: 'meta-data get',
  usage: '<key> [--default <value>]',
  summary: 'Print a value of the build.',
  flags: { ...OWNER, default: { kind: 'text', summary: 'What to print when it is not set' } },
  async run(call) {
    const { flags, io, api } = call
    try {
      const { value } = await getMetaData(api(), ownerOf(flags), argument(call, 0, 'key'))
      io.print(value)
    } catch (error) {
      const isUnset = error instanceof Refused && error.status === 404
      if (!isUnset || !flags.isGiven('default')) throw error
      io.print(flags.text('default'))
    }
  },
}

const exists: Verb = {
  name: 'meta-data exists',
  usage: '<key>',
  summary: `Exit with 0 when the value is set and with ${NOT_SET} when it is not.`,
  flags: OWNER,
  async run(call) {
    if (!(await hasMetaData(call.api(), ownerOf(call.flags), argument(call, 0, 'key'))))
      throw new Exit(NOT_SET)
  },
}

const keys: Verb = {
  name: 'meta-data keys',
  usage: '',
  summary: 'List the keys that are set.',
  flags: OWNER,
  async run({ flags, io, api }) {
    for (const key of await listMetaDataKeys(api(), ownerOf(flags))) io.print(`${key}\n`)
  },
}

export const metaDataVerbs = [set, setBatch, get, exists, keys]

function ownerOf(flags: Flags): MetaDataOwner {
  const build = flags.text('build')
  return build === '' ? { kind: 'jobs', id: flags.need('job') } : { kind: 'builds', id: build }
}
