import { readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { incarnationOf, isAlive, waitUntil, worksIn } from './processes.ts'
import { PORT, removeShortSocketDir, socketFile } from './socket-dir.ts'
import { errorCode, StartupError } from './startup-error.ts'

interface Postmaster {
  pid: number
  socketDir: string
  isReady: boolean
}

/** How long the children of a killed postmaster may take to exit on a loaded machine. */
export const LONGEST_LINGERING_MS = 15_000

export type ShutdownMode = 'fast' | 'immediate'

/** Reads postmaster.pid. */
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

/** Stops the database that a killed process left running, so that a new one can start. */
export async function stopOrphan(cluster: string): Promise<number | undefined> {
  const postmaster = readPostmaster(cluster)
  if (!postmaster) return undefined
  const { pid, socketDir } = postmaster
  if (incarnationOf(pid) !== undefined && worksIn(pid, cluster)) {
    await stopPostmaster(pid, 'fast')
    removeShortSocketDir(socketDir)
    return pid
  }
  if (await isServed(socketFile(socketDir))) {
    throw new StartupError(
      `The database in ${cluster} is in use from another container or machine (as process ${pid} there): ` +
        'stop that one, or set MILLRACE_DATA_DIR to another directory.',
    )
  }
  // PostgreSQL would take any living process with that pid for its predecessor.
  if (isAlive(pid)) rmSync(join(cluster, 'postmaster.pid'), { force: true })
  removeShortSocketDir(socketDir)
  return undefined
}

/** Escalates. Every signal after `fast` costs a recovery at the next start, but no data. */
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

/**
 * Whether a postmaster serves the socket. Children of a killed one may keep it open for a moment: it then accepts connections
 * without answering.
 */
async function isServed(path: string): Promise<boolean> {
  const deadline = Date.now() + LONGEST_LINGERING_MS
  for (;;) {
    const found = await ask(path)
    if (found !== 'silence') return found === 'an answer'
    if (Date.now() > deadline) return true
    await delay(20)
  }
}

/** SSLRequest, the one message that needs no user and no password. */
const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])
const answerMs = 250

function ask(path: string): Promise<'an answer' | 'silence' | 'nobody'> {
  return new Promise((resolve) => {
    const socket = connect(path)
    let found: 'an answer' | 'silence' | 'nobody' = 'nobody'
    const finish = () => {
      socket.destroy()
      resolve(found)
    }
    socket.on('connect', () => {
      found = 'silence'
      socket.setTimeout(answerMs, finish)
      socket.write(sslRequest)
    })
    socket.on('data', () => {
      found = 'an answer'
      finish()
    })
    socket.on('error', finish)
    socket.on('close', finish)
  })
}
