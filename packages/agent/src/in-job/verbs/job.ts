import { promiseFailure, updateJob } from '../../api/jobs.ts'
import { withoutSecrets } from '../job-api.ts'
import { argument, Exit, JOB } from '../verb.ts'
import type { Verb } from '../verb.ts'

const update: Verb = {
  name: 'job update',
  usage: '<attribute> [value]',
  summary:
    'Change an attribute of the job, such as timeout; the value comes from standard input when absent.',
  flags: { job: JOB, 'redacted-vars': { kind: 'text', summary: 'Accepted, without effect' } },
  async run(call) {
    const { args, flags, io, api } = call
    const value = args[1] ?? (await io.readInput()).trimEnd()
    const attribute = argument(call, 0, 'attribute')
    await updateJob(api(), flags.need('job'), { [attribute]: await withoutSecrets(io, value) })
  },
}

const promise: Verb = {
  name: 'job promise-failure',
  usage: '--exit-status <n> [--reason <text>]',
  summary: 'Declare now that the job will fail, so that the build need not wait.',
  flags: {
    job: JOB,
    'exit-status': { kind: 'text', summary: 'More than 0', fallback: '1' },
    reason: { kind: 'text', summary: 'Why' },
  },
  async run({ args, flags, io, api }) {
    const status = Number(args[0] ?? flags.text('exit-status'))
    if (!Number.isInteger(status) || status <= 0)
      throw new Exit(1, 'The exit status must be a number above 0.')
    const reason = flags.text('reason')
    await promiseFailure(api(), flags.need('job'), {
      exit_status: status,
      ...(reason === '' ? {} : { reason: await withoutSecrets(io, reason) }),
    })
  },
}

export const jobVerbs = [update, promise]
