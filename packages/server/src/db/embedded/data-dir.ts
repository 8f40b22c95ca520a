import { chmodSync, mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorCode, StartupError } from './startup-error.ts'

interface DataDir {
  path: string
  /** Deletes the created directories that are empty. */
  undo: () => void
}

/**
 * Creates the directory if it is missing, for its owner only, and checks that it is writable. Missing parents get
 * the ordinary mode: mkdir with `recursive` and a mode would lock them too.
 */
export function prepareDataDir(directory: string): DataDir {
  const path = resolve(directory)
  try {
    mkdirSync(dirname(path), { recursive: true })
    const isOurs = makeUnlessThere(path)
    rmdirSync(mkdtempSync(join(path, '.writable-')))
    return { path, undo: () => isOurs && removeIfEmpty(path) }
  } catch (error) {
    throw new StartupError(refusal(path, error))
  }
}

/** False: it existed, or another starting process has just created it. */
function makeUnlessThere(path: string): boolean {
  try {
    makePrivate(path)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && statSync(path).isDirectory()) return false
    throw error
  }
}

/** A directory only its owner can enter, whatever the umask. */
export function makePrivate(path: string): void {
  mkdirSync(path, { mode: 0o700, recursive: false })
  chmodSync(path, 0o700)
}

export function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // It is in use, or was never created.
  }
}

function refusal(path: string, error: unknown): string {
  const code = errorCode(error)
  const advice = 'or set MILLRACE_DATA_DIR to another directory'
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return `The disk that holds the data directory ${path} is full: make room, ${advice}.`
  }
  if (code === 'ENOTDIR' || code === 'EEXIST') {
    return `The data directory ${path} cannot be made because a file is in its way: move the file, ${advice}.`
  }
  return `The data directory ${path} is not writable (${code || String(error)}): give this user access, ${advice}.`
}
