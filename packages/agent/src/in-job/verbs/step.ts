import { randomUUID } from 'node:crypto'
import { cancelBuild, cancelStep, exportStep, updateStep } from '../../api/steps.ts'
import { withoutSecrets } from '../job-api.ts'
import { argument, BUILD, STEP } from '../verb.ts'
import type { Verb } from '../verb.ts'

const DEFAULT_GRACE_SECONDS = '10'

const get: Verb = {
  name: 'step get',
  usage: '[attribute]',
  summary: 'Print an attribute of a step, or the whole step.',
  flags: { step: STEP, build: BUILD, format: { kind: 'text', summary: 'string or json' } },
  async run({ args, flags, io, api }) {
    const [attribute] = args
    const format = flags.text('format')
    const { output } = await exportStep(api(), flags.need('step'), {
      ...(attribute === undefined ? {} : { attribute }),
      ...(flags.text('build') === '' ? {} : { build_id: flags.text('build') }),
      ...(format === '' ? {} : { format }),
    })
    io.print(`${output}\n`)
  },
}

const update: Verb = {
  name: 'step update',
  usage: '<attribute> [value]',
  summary: 'Change an attribute of a step; the value comes from standard input when absent.',
  flags: {
    step: STEP,
    build: BUILD,
    append: { kind: 'switch', summary: 'Add to what is there' },
    'redacted-vars': { kind: 'text', summary: 'Accepted, without effect' },
  },
  async run(call) {
    const { args, flags, io, api } = call
    const attribute = argument(call, 0, 'attribute')
    const value = await withoutSecrets(io, args[1] ?? (await io.readInput()))
    await updateStep(api(), flags.need('step'), {
      idempotency_uuid: randomUUID(),
      ...(flags.text('build') === '' ? {} : { build_id: flags.text('build') }),
      attribute,
      value,
      append: flags.isOn('append'),
    })
  },
}

const cancel: Verb = {
  name: 'step cancel',
  usage: '[--step <id or key>]',
  summary: 'Cancel the jobs of a step that are not over.',
  flags: {
    step: STEP,
    build: BUILD,
    force: { kind: 'switch', summary: 'Do not wait for agents' },
    'force-grace-period-seconds': {
      kind: 'text',
      summary: 'Wait this long first',
      fallback: DEFAULT_GRACE_SECONDS,
    },
  },
  async run({ flags, io, api }) {
    const { uuid } = await cancelStep(api(), flags.need('step'), {
      build_id: flags.need('build'),
      force: flags.isOn('force'),
      force_grace_period: Number.parseInt(flags.text('force-grace-period-seconds'), 10),
    })
    io.printError(`The step ${uuid} is being canceled.`)
  },
}

const cancelWholeBuild: Verb = {
  name: 'build cancel',
  usage: '[--build <id>]',
  summary: 'Cancel the build.',
  flags: { build: BUILD },
  async run({ flags, io, api }) {
    const { uuid } = await cancelBuild(api(), flags.need('build'))
    io.printError(`The build ${uuid} is being canceled.`)
  },
}

export const stepVerbs = [get, update, cancel, cancelWholeBuild]
