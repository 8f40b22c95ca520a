/*
 * The database listens on a Unix socket only. The socket's directory is private to the user who runs the database, and
 * clients need the password as well (see password.ts).
 */
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { makePrivate } from './data-dir.ts'
import type { Owner } from './privileges.ts'

/** A part of the socket's file name: no TCP port is opened. */
export const PORT = 54329

// The shortest limit of the systems we run on: 104 bytes with the closing zero.
const LONGEST_PATH = 103
const SHORT_PREFIX = 'millrace-pg-'

export function socketFile(directory: string): string {
  return join(directory, `.s.PGSQL.${PORT}`)
}

/** Empties the directory too: call it only when no database runs. */
export function makeSocketDir(home: string, owner: Owner | undefined): string {
  let directory = join(home, 'run')
  rmSync(directory, { recursive: true, force: true })
  if (isTooLong(directory)) {
    const parent = [tmpdir(), '/tmp'].find((path) => !isTooLong(join(path, `${SHORT_PREFIX}XXXXXX`)))
    directory = mkdtempSync(join(parent ?? '/tmp', SHORT_PREFIX))
    chmodSync(directory, 0o700)
  } else makePrivate(directory)
  if (owner) chownSync(directory, owner.uid, owner.gid)
  return directory
}

/** Leaves a directory inside the data directory alone. */
export function removeShortSocketDir(directory: string): void {
  if (isShort(directory)) rmSync(directory, { recursive: true, force: true })
}

export function isShort(directory: string): boolean {
  return basename(directory).startsWith(SHORT_PREFIX)
}

function isTooLong(directory: string): boolean {
  return Buffer.byteLength(socketFile(directory)) > LONGEST_PATH
}
