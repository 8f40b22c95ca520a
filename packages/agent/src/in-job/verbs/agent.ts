import * as agents from '../../api/agents.ts'
import { requestRepositoryToken } from '../../api/secrets.ts'
import { Exit, JOB } from '../verb.ts'
import type { Verb } from '../verb.ts'

const stop: Verb = {
  name: 'stop',
  usage: '[--force]',
  summary: 'Stop the agent that runs this job, once the job is over.',
  flags: { force: { kind: 'switch', summary: 'Cancel the job as well' } },
  async run({ flags, api }) {
    await agents.stop(api(), flags.isOn('force') ? { force: true } : {})
  },
}

const pause: Verb = {
  name: 'pause',
  usage: '[--note <text>] [--timeout-in-minutes <n>]',
  summary: 'Let the agent that runs this job take no further one.',
  flags: {
    note: { kind: 'text', summary: 'Why' },
    'timeout-in-minutes': { kind: 'text', summary: 'For how long' },
  },
  async run({ flags, api }) {
    const minutes = Number.parseInt(flags.text('timeout-in-minutes'), 10)
    await agents.pause(api(), {
      ...(flags.text('note') === '' ? {} : { note: flags.text('note') }),
      ...(Number.isInteger(minutes) ? { timeout_in_minutes: minutes } : {}),
    })
  },
}

const resume: Verb = {
  name: 'resume',
  usage: '',
  summary: 'Let the agent take jobs again.',
  flags: {},
  async run({ api }) {
    await agents.resume(api())
  },
}

/** Implements git's credential helper protocol. */
const gitCredentialsHelper: Verb = {
  name: 'git-credentials-helper',
  usage: 'get',
  summary: 'Give git what it needs to read the repository.',
  flags: { 'job-id': JOB },
  async run({ args, flags, io, api }) {
    if (args[0] !== 'get') return
    const asked = new Map(
      (await io.readInput()).split('\n').map((line): [string, string] => {
        const [name = '', ...value] = line.split('=')
        return [name, value.join('=')]
      }),
    )
    const url = `${asked.get('protocol') ?? 'https'}://${asked.get('host') ?? ''}/${asked.get('path') ?? ''}`
    const { token } = await requestRepositoryToken(api(), flags.need('job-id'), url)
    if (token === '') throw new Exit(1, 'The server has no credentials for this repository.')
    io.print(`username=token\npassword=${token}\n\n`)
  },
}

export const agentVerbs = [stop, pause, resume, gitCredentialsHelper]
