// Several agents in one process.

import { setMaxListeners } from 'node:events'
import { resolve } from 'node:path'
import { makeCommandsFolder } from './commands-folder.ts'
import { startJobReaper } from './job-reaper.ts'
import { killByVariable } from './job/processes.ts'
import { openWorkplaces } from './job/workplaces.ts'
import { withDefaults } from './settings.ts'
import type { AgentOptions, Settings } from './settings.ts'
import { startLockServer } from './sockets/locks.ts'
import type { LockServer } from './sockets/locks.ts'
import { makeLockToken } from './sockets/lock-token.ts'
import { runWorker } from './worker/worker.ts'
import type { WorkerEnd } from './worker/worker.ts'

export type { AgentLog } from './agent-log.ts'
export type { AgentOptions } from './settings.ts'

export interface AgentPool {
  /** The names of the agents. Rejects if one ends before it is connected. */
  connected: Promise<Array<{ id: string; name: string }>>
  /** Graceful: running jobs may finish. Forced: they are canceled. Resolves when all agents are disconnected. */
  stop(mode: 'graceful' | 'force'): Promise<PoolEnd>
  ended: Promise<PoolEnd>
}

interface PoolEnd {
  /** The exit status: the first that is not 0. */
  exitStatus: number
  agents: WorkerEnd[]
}

const PIPES_AT_ONCE = 16

export function startAgents(options: AgentOptions): AgentPool {
  const given = withDefaults(options)
  const stopping = new AbortController()
  const forced = new AbortController()
  // Every agent, and every call it makes, listens to these two.
  setMaxListeners(0, stopping.signal, forced.signal)
  const numbers = Array.from({ length: given.spawn }, (_, index) => index + 1)
  const connections = numbers.map(() => deferred<{ id: string; name: string }>())
  const connected = Promise.all(connections.map(({ promise }) => promise))
  connected.catch(() => {})

  async function run(): Promise<PoolEnd> {
    const settings = { ...given, lockToken: given.lockToken ?? (await findOrMakeLockToken(given)) }
    const commands = await makeCommandsFolder(settings.nodePath)
    const locks = createLocksOf(settings)
    const reaper = startJobReaper()
    const workplaces = openWorkplaces(PIPES_AT_ONCE)
    reaper.watch('folder', commands.path)
    try {
      const agents = await Promise.all(
        numbers.map(async (number, index) => {
          try {
            return await runWorker({
              settings,
              number,
              binPath: commands.path,
              reaper,
              workplaces,
              stopping: stopping.signal,
              forced: forced.signal,
              connected: (agent) => connections[index]?.resolve(agent),
              beforeJob: locks.offer,
            })
          } catch (error) {
            connections[index]?.reject(error)
            if (!stopping.signal.aborted) {
              settings.log.error(
                { number, error: error instanceof Error ? error.message : String(error) },
                'An agent failed.',
              )
            }
            return { exitStatus: stopping.signal.aborted ? 0 : 1, lastJob: null }
          }
        }),
      )
      return { exitStatus: agents.find(({ exitStatus }) => exitStatus !== 0)?.exitStatus ?? 0, agents }
    } finally {
      locks.close()
      await reaper.close()
      await workplaces.close()
      await commands.remove()
    }
  }

  const ended = run()
  return {
    connected,
    ended,
    stop(mode) {
      stopping.abort()
      if (mode === 'force') forced.abort()
      return ended
    },
  }
}

/**
 * Kills processes that jobs in this folder left running when their agents were killed. Call it only when no agent uses the
 * folder. It finds nothing where the system does not show the environment of processes.
 */
export async function endLeftovers(buildPath: string): Promise<void> {
  await killByVariable('BUILDKITE_BUILD_PATH', resolve(buildPath))
}

async function findOrMakeLockToken({ tokensPath, log }: Settings): Promise<string | null> {
  try {
    return await makeLockToken(tokensPath)
  } catch (error) {
    log.warn({ error: String(error) }, 'Locks between jobs do not work.')
    return null
  }
}

/** While another process is the lock server, try no more often. Commands of jobs wait longer for a lock server. */
const RETRY_MS = 1000

/** Starts the lock server of this machine with the first job, unless another process runs it. */
function createLocksOf({ socketsPath, tokensPath, log }: Settings): { offer: () => void; close: () => void } {
  let lockServer: LockServer | null = null
  let isClosed = false
  let triedAt = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | null = null

  function tryToServe(): void {
    timer = null
    triedAt = performance.now()
    startLockServer(socketsPath, tokensPath).then(
      (kept) => {
        if (isClosed) kept?.close()
        else lockServer ??= kept
      },
      (error: unknown) => log.warn({ error: String(error) }, 'Locks between jobs do not work.'),
    )
  }

  return {
    offer() {
      if (lockServer !== null || timer !== null) return
      const wait = triedAt + RETRY_MS - performance.now()
      if (wait > 0) timer = setTimeout(tryToServe, wait).unref()
      else tryToServe()
    },
    close() {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      lockServer?.close()
    },
  }
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}
