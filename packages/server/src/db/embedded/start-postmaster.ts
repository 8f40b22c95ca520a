import { type ChildProcess, spawn } from 'node:child_process'
import { clusterIn } from './cluster.ts'
import type { LogFile } from './log-file.ts'
import type { Placement } from './placement.ts'
import { LONGEST_LINGERING_MS, readPostmaster, stopPostmaster } from './postmaster.ts'
import { type Command, waitUntil } from './processes.ts'
import { postgresArguments } from './settings.ts'
import { StartupError } from './startup-error.ts'

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

interface RunningPostmaster {
  pid: number
  exited: Promise<Exit>
}

interface PostmasterOptions {
  socketDir: string
  logFile: LogFile
  durable: boolean
  onSpawn: (pid: number) => void
  log?: ((message: string) => void) | undefined
}

const LONGEST_RECOVERY_MS = 10 * 60_000

/** Returns when the database accepts connections. */
export async function startPostmaster(
  { home, runner, binaries }: Placement,
  options: PostmasterOptions,
): Promise<RunningPostmaster> {
  const { socketDir, logFile, durable } = options
  const cluster = clusterIn(home)
  // In a session of its own, so that Ctrl-C does not stop the database before its clients.
  const command = runner.command(binaries.postgres, postgresArguments(cluster, socketDir, durable), {
    detached: true,
    stdio: ['ignore', logFile.descriptor, logFile.descriptor],
  })
  const deadline = Date.now() + LONGEST_LINGERING_MS
  for (;;) {
    const running = await attempt(command, cluster, options)
    if (running) return running
    const reason = lastWords(logFile.read())
    // The sessions of a killed postmaster still use the shared memory.
    if (reason.includes('is still in use') && Date.now() < deadline) continue
    throw new StartupError(
      `PostgreSQL does not start (${reason}): put right what ${logFile.path} says and start again.`,
    )
  }
}

async function attempt(
  { file, args, options }: Command,
  cluster: string,
  { onSpawn, log }: PostmasterOptions,
): Promise<RunningPostmaster | undefined> {
  const child = spawn(file, args, options)
  const exited = exitOf(child)
  if (child.pid !== undefined) onSpawn(child.pid)
  let isGone = false
  void exited.then(() => (isGone = true))
  const isReady = () => isReadyAs(cluster, child.pid)
  const isDecided = () => isGone || isReady()
  if (!(await waitUntil(isDecided, 5000))) {
    log?.('PostgreSQL is still recovering its last changes.')
    await waitUntil(isDecided, LONGEST_RECOVERY_MS)
  }
  if (child.pid === undefined) return undefined
  if (isReady()) return { pid: child.pid, exited }
  await stopPostmaster(child.pid, 'fast')
  return undefined
}

function isReadyAs(cluster: string, pid: number | undefined): boolean {
  const postmaster = readPostmaster(cluster)
  return postmaster !== undefined && postmaster.pid === pid && postmaster.isReady
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.on('error', () => resolve({ code: null, signal: null }))
    child.on('exit', (code, signal) => resolve({ code, signal }))
  })
}

function lastWords(log: string): string {
  const lines = log.split('\n').filter((line) => /FATAL|PANIC/.test(line))
  return (
    lines.at(-1)?.replace(/^.*?(FATAL|PANIC):\s*/, '') ?? (log.trim().split('\n').at(-1) || 'it says nothing')
  )
}
