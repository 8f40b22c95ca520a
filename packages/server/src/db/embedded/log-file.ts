import {
  chownSync,
  copyFileSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import type { Owner } from './privileges.ts'

const LARGEST_BYTES = 8 * 1024 * 1024
const CHECK_EVERY_MS = 30_000

export interface LogFile {
  path: string
  descriptor: number
  /** The text written since the file was opened. */
  read: () => string
  stopChecking: () => void
}

/** PostgreSQL appends to the file. One older file is kept, so their total size is bounded. */
export function openLogFile(path: string, owner: Owner | undefined): LogFile {
  const older = `${path}.1`
  if (sizeOf(path) > LARGEST_BYTES) renameSync(path, older)
  const descriptor = openSync(path, 'a', 0o600)
  if (owner) chownSync(path, owner.uid, owner.gid)
  const start = fstatSync(descriptor).size
  const timer = setInterval(() => {
    if (sizeOf(path) <= LARGEST_BYTES) return
    copyFileSync(path, older)
    truncateSync(path)
  }, CHECK_EVERY_MS)
  timer.unref()
  return {
    path,
    descriptor,
    read: () => readFileSync(path).subarray(start).toString(),
    stopChecking: () => clearInterval(timer),
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
