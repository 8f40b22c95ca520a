// The process of the agents that `npm start` runs. It gets its token over a channel, so that neither its command line nor
// its environment shows it, and ends when the channel closes.

import type {
  JobPaths,
  LocalAgentAnswer,
  LocalAgentStart,
  LocalJobs,
  SandboxedJobs,
} from '@millrace/protocol/local-agents.ts'
import { endLeftovers, startAgents } from './pool.ts'
import type { AgentOptions, AgentPool } from './pool.ts'
import { clearLeftFolders } from './separate/job-folders.ts'
import { defaultSocketsPath } from './settings.ts'
import type { JobLaunch, SandboxFolders } from './settings.ts'
import { makeLockToken } from './sockets/lock-token.ts'

const CANCEL_GRACE_SECONDS = 2
/** A killed server cannot receive the report. */
const LONGEST_STOP_MS = 8000

let pool: AgentPool | null = null

process.once('message', (message: LocalAgentStart) => void start(message))
process.once('disconnect', () => void stop())
// Ctrl-C reaches the server too, which then closes the channel.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

async function start({ isAlone, jobs, ...given }: LocalAgentStart): Promise<void> {
  if (jobs.kind === 'sandboxed') clearLeftFolders(sandboxesOf(jobs))
  else if (isAlone) await endLeftovers(jobs.paths.buildPath)
  const { endpoint, token, count, socketsPath } = given
  const common = {
    endpoint,
    spawn: count,
    name: '%hostname-%spawn',
    cancelGraceSeconds: CANCEL_GRACE_SECONDS,
    ...(socketsPath === null ? {} : { socketsPath }),
  }
  // Sandboxed jobs see the folder of sockets, and some run as the user of this process.
  const tokensPath = jobs.kind === 'sandboxed' ? jobs.folder : (socketsPath ?? defaultSocketsPath())
  const lockToken = await makeLockToken(tokensPath).catch(() => null)
  const trusted = lockToken === null ? common : { ...common, lockToken }
  pool = startAgents({ ...trusted, ...jobOptions(jobs, { trusted, forks: common }), tokensPath, token })
  try {
    await pool.connected
    answer({ kind: 'connected' })
  } catch (error) {
    answer({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
  const { exitStatus } = await pool.ended
  process.exit(exitStatus)
}

async function stop(): Promise<void> {
  setTimeout(() => process.exit(1), LONGEST_STOP_MS).unref()
  await pool?.stop('force')
  process.exit(0)
}

type Common = Pick<AgentOptions, 'endpoint' | 'name' | 'cancelGraceSeconds' | 'socketsPath' | 'lockToken'> & {
  spawn: number
}
type Sandboxed = Extract<LocalJobs, { kind: 'sandboxed' }>

function jobOptions(
  jobs: LocalJobs,
  common: { trusted: Common; forks: Common },
): Pick<AgentOptions, 'buildPath' | 'environment' | 'refuseForks' | 'separateJobs'> {
  switch (jobs.kind) {
    case 'sandboxed': {
      const separateJobs = jobs.agents.map(({ trusted, forks }) => ({
        trusted: sandboxedLaunch(trusted, jobs, common.trusted),
        forks: sandboxedLaunch(forks, jobs, common.forks),
      }))
      const buildPath = jobs.folder
      return { buildPath, separateJobs }
    }
    case 'other-user': {
      const { node, program } = jobs.paths
      const options = { ...common.trusted, ...optionsOf(jobs.paths), refuseForks: jobs.refusal }
      const trusted: JobLaunch = { command: [], user: jobs.user, sandbox: null, node, program, options }
      const separateJobs = Array.from({ length: common.trusted.spawn }, () => ({ trusted, forks: null }))
      return { ...optionsOf(jobs.paths), separateJobs }
    }
    case 'unprotected':
      return { ...optionsOf(jobs.paths), refuseForks: jobs.refusal }
  }
}

function sandboxedLaunch(sandboxed: SandboxedJobs, { folder }: Sandboxed, common: Common): JobLaunch {
  const { command, paths } = sandboxed
  const { node, program, socketsPath, missingHint } = paths
  const options = { ...common, ...optionsOf(paths), socketsPath, missingHint }
  return { command, user: null, sandbox: { ...sandboxed, folder }, node, program, options }
}

const optionsOf = ({ buildPath, environment }: Pick<JobPaths, 'buildPath' | 'environment'>) => ({
  buildPath,
  environment,
})

const sandboxesOf = ({ folder, agents }: Sandboxed): SandboxFolders[] =>
  agents.flatMap(({ trusted, forks }) => [
    { ...trusted, folder },
    { ...forks, folder },
  ])

const answer = (message: LocalAgentAnswer) => void process.send?.(message)
