/*
 * Decides where the database's files are and which user runs it. They are in `postgres/` in the data directory. If
 * PostgreSQL has to run as a user who cannot enter that (root's own home, mode 0700), they move to a directory below
 * /var/lib/millrace, and the file `postgres.location` names it. A location is valid once something is there, so an
 * interrupted move has either happened or not.
 */
import { chmodSync, chownSync, existsSync, lchownSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Binaries, copyBinaries, linkLibraries } from './binaries.ts'
import { makePrivate } from './data-dir.ts'
import { findNameOf, isRoot, listRunners, type Owner, reaches, type Runner, works } from './privileges.ts'
import { run } from './processes.ts'
import { errorCode, StartupError } from './startup-error.ts'

export interface Placement {
  /** Holds the cluster, its log and its socket; owned by the user who runs the database. */
  home: string
  runner: Runner
  binaries: Binaries
  how: string
}

export interface PlacementOptions {
  canUnshare?: boolean
  sharedRoot?: string
}

export function findHome(dataDir: string): string {
  const inPlace = join(dataDir, 'postgres')
  const pointer = join(dataDir, 'postgres.location')
  if (!existsSync(pointer)) return inPlace
  const elsewhere = readFileSync(pointer, 'utf8').trim()
  if (existsSync(elsewhere)) return elsewhere
  if (existsSync(inPlace)) return inPlace
  throw new StartupError(
    `The database of ${dataDir} was in ${elsewhere}, which is gone: put it back, ` +
      `or remove ${pointer} to begin with an empty database.`,
  )
}

/** Must be called under the lock, while no database runs on these files. */
export async function choosePlacement(
  dataDir: string,
  found: Binaries,
  options: PlacementOptions,
): Promise<Placement> {
  const { canUnshare = true, sharedRoot = '/var/lib/millrace' } = options
  const outside: Runner[] = []
  const problems: string[] = []
  const home = findHome(dataDir)
  refuseForeign(home)
  for await (const runner of listRunners({ canUnshare, filesOwner: await findOwner(home) })) {
    // Only runners that cannot enter the files' directory need another place.
    if (!(await mayEnter(runner, dirname(home)))) {
      if (await works(runner)) outside.push(runner)
      continue
    }
    const placement = await take(runner, home, found, problems)
    if (placement) return placement
  }
  for (const runner of outside) {
    const placement = await take(runner, await makeReachable(runner, dataDir, sharedRoot), found, problems)
    if (placement) return placement
  }
  throw isRoot() && problems.length === 0 ? cannotLeaveRoot() : doesNotRun(problems)
}

async function take(
  runner: Runner,
  home: string,
  found: Binaries,
  problems: string[],
): Promise<Placement | undefined> {
  try {
    const binaries = await findRunnable(runner, found, dirname(home))
    if (!existsSync(home)) makePrivate(home)
    chmodSync(home, 0o700)
    if (runner.owner) handOver(home, runner.owner)
    return { home, runner, binaries, how: `${runner.how}, with its files in ${home}` }
  } catch (error) {
    problems.push(`${runner.how}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

async function findRunnable(runner: Runner, found: Binaries, copyParent: string): Promise<Binaries> {
  if (linkLibraries(found) && (await tryOut(runner, found)) === '') return found
  // node_modules is read-only without links, or the runner cannot enter it.
  const copy = copyBinaries(found, copyParent)
  const problem = await tryOut(runner, copy)
  if (problem === '') return copy
  rmSync(copy.root, { recursive: true, force: true })
  throw new Error(problem)
}

async function tryOut(runner: Runner, binaries: Binaries): Promise<string> {
  const { code, stderr } = await run(runner.command(binaries.postgres, ['--version']))
  return code === 0 ? '' : stderr.trim().split('\n').at(-1) || 'it ends at once'
}

async function mayEnter(runner: Runner, directory: string): Promise<boolean> {
  if (await reaches(runner, directory)) return true
  const { uid, mode } = statSync(directory)
  const isOurs = uid === process.geteuid?.() && (mode & 0o067) === 0
  if (!runner.owner || !isOurs || !(await reaches(runner, dirname(directory)))) return false
  // The runner's group may only pass through the data directory, not list it.
  chownSync(directory, uid, runner.owner.gid)
  chmodSync(directory, 0o710)
  return await reaches(runner, directory)
}

async function makeReachable(runner: Runner, dataDir: string, sharedRoot: string): Promise<string> {
  const home = findHome(dataDir)
  if (await reaches(runner, dirname(home))) return home
  mkdirSync(sharedRoot, { recursive: true })
  chmodSync(sharedRoot, 0o755)
  const parent = mkdtempSync(join(sharedRoot, `${basename(dataDir)}-`))
  chmodSync(parent, 0o755)
  const target = join(parent, 'postgres')
  if (existsSync(home)) {
    writePointer(dataDir, target)
    await move(home, target)
  } else {
    makePrivate(target)
    writePointer(dataDir, target)
  }
  return target
}

async function move(from: string, to: string): Promise<void> {
  try {
    renameSync(from, to)
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    const copied = await run({ file: 'cp', args: ['-a', from, `${to}.part`], options: {} })
    if (copied.code !== 0) {
      const reason = copied.stderr.trim().split('\n').at(-1)
      throw new StartupError(
        `The database cannot be moved to ${to} (${reason}): put that right and start again.`,
        {
          cause: error,
        },
      )
    }
    await run({ file: 'sync', args: [], options: {} })
    renameSync(`${to}.part`, to)
    rmSync(from, { recursive: true, force: true })
  }
}

function writePointer(dataDir: string, target: string): void {
  const pointer = join(dataDir, 'postgres.location')
  writeFileSync(`${pointer}.part`, `${target}\n`, { flush: true, mode: 0o600 })
  renameSync(`${pointer}.part`, pointer)
}

/** The owner of the files or, before there are any, of the data directory: under root, files of a user stay that user's. */
async function findOwner(home: string): Promise<Owner | undefined> {
  const own = statSync(home, { throwIfNoEntry: false })
  if (own) return { uid: own.uid, gid: own.gid }
  const { uid, gid } = statSync(dirname(home))
  return (await findNameOf(uid)) === undefined ? undefined : { uid, gid }
}

function refuseForeign(home: string): void {
  const owner = statSync(home, { throwIfNoEntry: false })?.uid
  if (isRoot() || owner === undefined || owner === process.geteuid?.()) return
  throw new StartupError(
    `The database in ${home} belongs to user ${owner}: start Millrace as that user or as root, ` +
      'or set MILLRACE_DATA_DIR to another directory.',
  )
}

function cannotLeaveRoot(): StartupError {
  return new StartupError(
    'PostgreSQL does not run as root and there is no way to give up that right here: ' +
      'start Millrace as an ordinary user, or set DATABASE_URL to a PostgreSQL 14 or newer.',
  )
}

function doesNotRun(problems: string[]): StartupError {
  return new StartupError(
    `The PostgreSQL that comes with Millrace does not run here (${problems.join('; ')}): ` +
      'put that right, or set DATABASE_URL to a PostgreSQL 14 or newer.',
  )
}

/** The directory itself comes last: its owner proves that everything below has changed its owner. */
function handOver(path: string, owner: Owner): void {
  const stats = lstatSync(path)
  if (stats.uid === owner.uid) return
  handOverContents(path, owner)
  lchownSync(path, owner.uid, owner.gid)
}

function handOverContents(directory: string, owner: Owner): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) handOverContents(path, owner)
    lchownSync(path, owner.uid, owner.gid)
  }
}
