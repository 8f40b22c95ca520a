// Several agents in one process, started and stopped together.

import { setMaxListeners } from 'node:events'
import { resolve } from 'node:path'
import { makeCommandsFolder } from './commands-folder.ts'
import { startJobReaper } from './job-reaper.ts'
import { killByVariable } from './job/processes.ts'
import { settle } from './settings.ts'
import type { AgentOptions, Settings } from './settings.ts'
import { keepLocks } from './sockets/locks.ts'
import type { LockKeeper } from './sockets/locks.ts'
import { runWorker } from './worker/worker.ts'
import type { WorkerEnd } from './worker/worker.ts'

export type { AgentLog } from './agent-log.ts'
export type { AgentOptions, PingMode } from './settings.ts'

export interface AgentPool {
  /** Each agent as the server calls it; rejects when one ends before it was connected. */
  connected: Promise<Array<{ id: string; name: string }>>
  /** Graceful: jobs that run may end. Forced: they are canceled. Returns when all are disconnected. */
  stop(mode: 'graceful' | 'force'): Promise<PoolEnd>
  ended: Promise<PoolEnd>
}

export interface PoolEnd {
  /** What a process of its own would exit with: the first that is not 0. */
  exitStatus: number
  agents: WorkerEnd[]
}

export function startAgents(options: AgentOptions): AgentPool {
  const settings = settle(options)
  const stopping = new AbortController()
  const forced = new AbortController()
  // Every agent, and every call it makes, listens to these two.
  setMaxListeners(0, stopping.signal, forced.signal)
  const numbers = Array.from({ length: settings.spawn }, (_, index) => index + 1)
  const connections = numbers.map(() => deferred<{ id: string; name: string }>())
  const connected = Promise.all(connections.map(({ promise }) => promise))
  connected.catch(() => {})

  async function run(): Promise<PoolEnd> {
    const commands = await makeCommandsFolder(settings.nodePath)
    const locks = createLocksOf(settings)
    const reaper = startJobReaper()
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
 * What jobs in this folder left running when their agents were killed. For whoever knows that no agent uses the folder
 * now; where the system does not show the environment of processes, nothing is found.
 */
export async function endLeftovers(buildPath: string): Promise<void> {
  await killByVariable('BUILDKITE_BUILD_PATH', resolve(buildPath))
}

/** Offers to keep the locks of this machine whenever a job begins; usually somebody does already. */
function createLocksOf({ socketsPath, log }: Settings): { offer: () => void; close: () => void } {
  let keeper: LockKeeper | null = null
  let isClosed = false
  return {
    offer() {
      if (keeper !== null) return
      keepLocks(socketsPath).then(
        (kept) => {
          if (isClosed) kept?.close()
          else keeper ??= kept
        },
        (error: unknown) => log.warn({ error: String(error) }, 'Locks between jobs do not work.'),
      )
    },
    close() {
      isClosed = true
      keeper?.close()
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
