import { closeSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findBinaries } from './binaries.ts'
import { clusterIn, DATABASE, ensureCluster, USER } from './cluster.ts'
import { prepareDataDir, removeIfEmpty } from './data-dir.ts'
import { findHolder, lockDataDir } from './data-lock.ts'
import { openLogFile } from './log-file.ts'
import { readPassword } from './password.ts'
import { findHome, type Placement, type PlacementOptions, choosePlacement } from './placement.ts'
import { readPostmaster, type ShutdownMode, stopOrphan, stopPostmaster } from './postmaster.ts'
import { isShort, makeSocketDir, PORT, removeShortSocketDir } from './socket-dir.ts'
import { type Exit, startPostmaster } from './start-postmaster.ts'
import { errorCode, StartupError } from './startup-error.ts'
import { startWatchdog } from './watchdog.ts'

export interface EmbeddedOptions extends PlacementOptions {
  dataDir: string
  /** Is called with whole sentences. */
  log?: (message: string) => void
}

interface Connection {
  /** The directory of the Unix socket. */
  host: string
  port: number
  user: string
  password: string
  database: string
}

export interface EmbeddedPostgres {
  connection: Connection
  /** For `pg`; the socket's directory is a parameter of the URL. */
  url: string
  /** Completes the sentence "PostgreSQL runs …". */
  how: string
  /** The directory of its files. */
  home: string
  pid: number
  /** Resolves when PostgreSQL has exited, stopped or not. */
  exited: Promise<Exit>
  stop: () => Promise<void>
}

interface Nature {
  durable: boolean
  shutdown: ShutdownMode
}

type Undo = (() => void)[]

/** Starts the database of a data directory and locks that directory until stop(). */
export function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  return launch(options, { durable: true, shutdown: 'fast' })
}

/** How to reach the database that another process on this machine runs in the data directory. */
export function findRunning(
  dataDir: string,
): { connection: Connection; url: string; holder: number } | undefined {
  const holder = findHolder(dataDir)
  if (holder === undefined) return undefined
  const home = findHome(dataDir)
  const postmaster = readPostmaster(clusterIn(home))
  return postmaster?.isReady ? { ...connectionTo(home, postmaster.socketDir), holder } : undefined
}

export async function launch(options: EmbeddedOptions, nature: Nature): Promise<EmbeddedPostgres> {
  const found = findBinaries()
  const dataDir = prepareDataDir(options.dataDir)
  const undo: Undo = [dataDir.undo]
  try {
    const path = realpathSync(dataDir.path)
    await lock(path, undo)
    const home = findHome(path)
    // A copy of a data directory points to the same files elsewhere, so these have a lock of their own.
    if (dirname(home) !== path) await lock(dirname(home), undo)
    const orphan = await stopOrphan(clusterIn(home))
    if (orphan !== undefined)
      options.log?.(`Stopped PostgreSQL, process ${orphan}, left by a killed process.`)
    const placement = await choosePlacement(path, found, options)
    if (placement.home !== home) await lock(dirname(placement.home), undo)
    return await run(placement, path, options, nature, undo)
  } catch (error) {
    undoAll(undo)
    throw asStartupError(error, dataDir.path)
  }
}

async function lock(directory: string, undo: Undo): Promise<void> {
  const { release } = await lockDataDir(directory)
  undo.push(release)
}

async function run(
  placement: Placement,
  dataDir: string,
  { log }: EmbeddedOptions,
  { durable, shutdown }: Nature,
  undo: Undo,
): Promise<EmbeddedPostgres> {
  const { home, runner, how } = placement
  undo.push(() => removeIfEmpty(home))
  const socketDir = makeSocketDir(home, runner.owner)
  undo.push(() => (isShort(socketDir) ? removeShortSocketDir(socketDir) : removeIfEmpty(socketDir)))
  const garbage = [...(isShort(socketDir) ? [socketDir] : []), ...(durable ? [] : [dataDir, dirname(home)])]
  const watchdog = startWatchdog(clusterIn(home), shutdown, garbage)
  undo.push(watchdog.dismiss)
  await ensureCluster(placement, durable)
  const logFile = openLogFile(join(home, 'postgres.log'), runner.owner)
  undo.push(() => closeSync(logFile.descriptor), logFile.stopChecking)
  const onSpawn = watchdog.guard
  const postmaster = await startPostmaster(placement, { socketDir, logFile, durable, onSpawn, log })
  const exited = postmaster.exited.then((exit) => {
    undoAll(undo)
    return exit
  })
  const stop = async () => {
    await stopPostmaster(postmaster.pid, shutdown)
    await exited
  }
  return { ...connectionTo(home, socketDir), how, home, pid: postmaster.pid, exited, stop }
}

function connectionTo(home: string, socketDir: string): { connection: Connection; url: string } {
  const password = readPassword(home)
  const connection = { host: socketDir, port: PORT, user: USER, password, database: DATABASE }
  const url = `postgresql:///${DATABASE}?host=${encodeURIComponent(socketDir)}&port=${PORT}&user=${USER}&password=${password}`
  return { connection, url }
}

/** Undoes the steps in reverse order; a step that fails does not stop the others. */
function undoAll(steps: Undo): void {
  for (const step of steps.splice(0).toReversed()) {
    try {
      step()
    } catch {
      // The next start cleans up the rest.
    }
  }
}

/** A full disk and a file of another user are the operator's to fix, wherever they are noticed. */
function asStartupError(error: unknown, dataDir: string): unknown {
  if (error instanceof StartupError || errorCode(error) === '' || !(error instanceof Error)) return error
  return new StartupError(
    `The database in ${dataDir} cannot be started (${error.message}): put that right and start again, ` +
      'or set MILLRACE_DATA_DIR to another directory.',
  )
}
