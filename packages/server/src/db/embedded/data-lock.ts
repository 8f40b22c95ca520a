/*
 * The lock on a data directory. Every process that wants it writes a claim into `lock/`, a file named after its pid and
 * start time, and only then reads the others. Of two processes at least one sees the other, so two never hold the lock.
 * Any process may delete the claim of a dead one at any time, because that name is never used again.
 *
 * An empty claim is undecided, one that contains `held` has the lock. Of several undecided claims the first by name
 * waits for the others, and the others give up.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { removeIfEmpty } from './data-dir.ts'
import { incarnationOf } from './processes.ts'
import { errorCode, StartupError } from './startup-error.ts'

/** Another live process has the directory, or is about to. */
export class DataDirInUse extends StartupError {
  constructor(dataDir: string, pid: number) {
    super(
      `The data directory ${dataDir} is in use by process ${pid}: stop that process, ` +
        'or set MILLRACE_DATA_DIR to another directory.',
    )
  }
}

interface DataLock {
  release: () => void
}

interface Claim {
  name: string
  pid: number
  held: boolean
}

export async function lockDataDir(dataDir: string): Promise<DataLock> {
  const directory = join(dataDir, 'lock')
  const name = `${process.pid}.${incarnationOf(process.pid)}`
  const file = join(directory, name)
  const release = () => {
    rmSync(file, { force: true })
    removeIfEmpty(directory)
  }
  placeClaim(dataDir, directory, file)
  const deadline = Date.now() + 5000
  for (;;) {
    const others = listLiveClaims(directory).filter((claim) => claim.name !== name)
    const winner = others.find((claim) => claim.held || claim.name < name || Date.now() > deadline)
    if (winner) {
      release()
      throw new DataDirInUse(dataDir, winner.pid)
    }
    if (others.length === 0) break
    await delay(10)
  }
  writeFileSync(file, 'held')
  return { release }
}

/** The process that holds the directory now. */
export function findHolder(dataDir: string): number | undefined {
  return listLiveClaims(join(dataDir, 'lock')).find((claim) => claim.held)?.pid
}

function placeClaim(dataDir: string, directory: string, file: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      writeFileSync(file, '', { flag: 'wx', mode: 0o600 })
      return
    } catch (error) {
      if (errorCode(error) === 'EEXIST') throw new DataDirInUse(dataDir, process.pid)
      // The last holder may delete the empty directory between our two steps.
      if (errorCode(error) !== 'ENOENT' || attempt === 10) throw unlockable(directory, error)
    }
  }
}

function listLiveClaims(directory: string): Claim[] {
  return list(directory).flatMap((name) => {
    const pid = Number(name.split('.')[0])
    if (incarnationOf(pid) === name.slice(String(pid).length + 1)) {
      return [{ name, pid, held: read(join(directory, name)) === 'held' }]
    }
    rmSync(join(directory, name), { force: true })
    return []
  })
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => /^\d+\./.test(name))
  } catch (error) {
    // If a file is in place of the data directory, there is no lock, and creating the directory reports the error.
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error))) return []
    throw unlockable(directory, error)
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function unlockable(directory: string, error: unknown): StartupError {
  return new StartupError(
    `The lock in ${directory} cannot be written (${errorCode(error) || String(error)}): give this user access ` +
      'to the whole data directory, or set MILLRACE_DATA_DIR to another one.',
  )
}
