// The process of the agents that `npm start` runs. It gets its token over a channel, so that neither its command line nor
// its environment shows it, and ends when the channel closes.

import { fileURLToPath } from 'node:url'
import type {
  JobIdentity,
  LocalAgentAnswer,
  LocalAgentStart,
  LocalJobs,
} from '@millrace/protocol/local-agents.ts'
import { endLeftovers, startAgents } from './pool.ts'
import type { AgentOptions, AgentPool } from './pool.ts'
import { defaultSocketsPath } from './settings.ts'
import type { JobLaunch } from './settings.ts'
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
  if (isAlone) for (const path of buildPathsOf(jobs)) await endLeftovers(path)
  const { endpoint, token, count, socketsPath } = given
  const common = {
    endpoint,
    name: '%hostname-%spawn',
    cancelGraceSeconds: CANCEL_GRACE_SECONDS,
    ...(socketsPath === null ? {} : { socketsPath }),
  }
  // A job's process may not read the file of the token.
  const lockToken = await makeLockToken(socketsPath ?? defaultSocketsPath()).catch(() => null)
  const trusted = lockToken === null ? common : { ...common, lockToken }
  pool = startAgents({ ...trusted, ...jobOptions(jobs, { trusted, forks: common }), token, spawn: count })
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

type Common = Pick<AgentOptions, 'endpoint' | 'name' | 'cancelGraceSeconds' | 'socketsPath' | 'lockToken'>

function jobOptions(
  jobs: LocalJobs,
  common: { trusted: Common; forks: Common },
): Pick<AgentOptions, 'buildPath' | 'environment' | 'refuseForks' | 'separateJobs'> {
  if (jobs.kind === 'unprotected') return { ...jobs.own, refuseForks: jobs.refusal }
  const launch = ({ command, user, buildPath, environment }: JobIdentity, shared: Common): JobLaunch => ({
    command,
    user,
    node: process.execPath,
    program: fileURLToPath(new URL('separate/program.js', import.meta.url)),
    options: { ...shared, buildPath, environment },
  })
  const { buildPath, environment } = jobs.trusted
  return {
    buildPath,
    environment,
    separateJobs: {
      trusted: launch(jobs.trusted, common.trusted),
      forks: launch(jobs.forks, common.forks),
    },
  }
}

const buildPathsOf = (jobs: LocalJobs): string[] =>
  jobs.kind === 'unprotected' ? [jobs.own.buildPath] : [jobs.trusted.buildPath, jobs.forks.buildPath]

const answer = (message: LocalAgentAnswer) => void process.send?.(message)
