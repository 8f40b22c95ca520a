import { readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { incarnationOf, isAlive, waitUntil, worksIn } from './processes.ts'
import { PORT, removeShortSocketDir, socketFile } from './socket-dir.ts'
import { errorCode, StartupError } from './startup-error.ts'

export interface Postmaster {
  pid: number
  socketDir: string
  isReady: boolean
}

export type ShutdownMode = 'fast' | 'immediate'

/** What the postmaster says about itself in postmaster.pid. */
export function readPostmaster(cluster: string): Postmaster | undefined {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    const pid = Number(lines[0])
    if (!Number.isInteger(pid) || pid <= 0) return undefined
    return {
      pid,
      socketDir: lines[4] ?? '',
      isReady: lines[7]?.trim() === 'ready' && lines[3] === String(PORT),
    }
  } catch {
    return undefined
  }
}

/** Stops the database that a killed process left behind, and clears the way for a new one. */
export async function stopOrphan(cluster: string): Promise<number | undefined> {
  const postmaster = readPostmaster(cluster)
  if (!postmaster) return undefined
  const { pid, socketDir } = postmaster
  if (incarnationOf(pid) !== undefined && worksIn(pid, cluster)) {
    await stopPostmaster(pid, 'fast')
    removeShortSocketDir(socketDir)
    return pid
  }
  if (await answers(socketFile(socketDir))) {
    throw new StartupError(
      `The database in ${cluster} is in use from another container or machine (as process ${pid} there): ` +
        'stop that one, or set MILLRACE_DATA_DIR to another directory.',
    )
  }
  // PostgreSQL itself would take any living process with that number for its predecessor.
  if (isAlive(pid)) rmSync(join(cluster, 'postmaster.pid'), { force: true })
  removeShortSocketDir(socketDir)
  return undefined
}

/** Harder and harder: what comes after `fast` costs a recovery at the next start, and no data. */
export async function stopPostmaster(pid: number, mode: ShutdownMode): Promise<void> {
  const incarnation = incarnationOf(pid)
  if (incarnation === undefined) return
  const isGone = () => incarnationOf(pid) !== incarnation
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', 5000],
    ['SIGQUIT', 2000],
    ['SIGKILL', 1000],
  ]
  for (const [signal, timeoutMs] of mode === 'fast' ? steps : steps.slice(1)) {
    send(pid, signal)
    if (await waitUntil(isGone, timeoutMs)) return
  }
  throw new StartupError(`PostgreSQL, process ${pid}, does not stop: stop it and start again.`)
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return
    throw new StartupError(`PostgreSQL runs as process ${pid} of another user: stop it and start again.`)
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const finish = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.on('connect', () => finish(true))
    socket.on('error', () => finish(false))
  })
}
