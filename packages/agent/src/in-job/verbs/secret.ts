import { readSecret } from '../../api/secrets.ts'
import { hideValue } from '../job-api.ts'
import { Exit, JOB } from '../verb.ts'
import type { Verb } from '../verb.ts'

const get: Verb = {
  name: 'secret get',
  usage: '<keys…>',
  summary: 'Print secrets; the log will not show them.',
  flags: {
    job: JOB,
    format: { kind: 'text', summary: 'default, json or env', fallback: 'default' },
    'skip-redaction': { kind: 'switch', summary: 'The log may show them' },
  },
  async run({ args, flags, io, api }) {
    if (args.length === 0) throw new Exit(1, 'The keys are missing.')
    const job = flags.need('job')
    const found = await Promise.all(
      args.map(async (key) => ({ key, value: (await readSecret(api(), job, key)).value })),
    )
    // Print only after the log redacts all of it.
    if (!flags.isOn('skip-redaction')) for (const { value } of found) await hideValue(io, value)
    io.print(formatSecrets(found, flags.text('format')))
  },
}

export const secretVerbs = [get]

function formatSecrets(found: ReadonlyArray<{ key: string; value: string }>, format: string): string {
  const [first] = found
  const isSingle = found.length === 1 && first !== undefined
  if (format === 'default' && isSingle) return first.value
  if (format === 'env') {
    const lines = found.map(({ key, value }) => `${key.toUpperCase()}=${JSON.stringify(value)}\n`)
    return lines.join('')
  }
  return `${JSON.stringify(Object.fromEntries(found.map(({ key, value }) => [key, value])))}\n`
}
