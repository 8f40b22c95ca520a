// Reads and writes the files of a cache, synchronously: in a thread of its own that is several times as fast as asynchronous
// calls, and nothing else waits for it.

import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { CacheEntry } from './manifest.ts'
import { NotSavable } from './walk.ts'

export interface FileSlice {
  /** null: the slice is not wanted. */
  location: string | null
  /** In the file. */
  start: number
  length: number
  fileSize: number
  mode: number
  mtimeMs: number
}

/** The bytes of all slices. Throws NotSavable if a file is not as it was listed. */
export function readSlices(slices: readonly FileSlice[]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(slices.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const slice of slices) {
    if (slice.location !== null)
      readSlice({ ...slice, location: slice.location }, bytes.subarray(at, at + slice.length))
    at += slice.length
  }
  return bytes
}

interface HeldSlice extends FileSlice {
  location: string
}

function readSlice({ location, start, fileSize }: HeldSlice, into: Buffer): void {
  const file = openSync(location, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    if (fstatSync(file).size !== fileSize) throw changed(location)
    for (let done = 0; done < into.length;) {
      const read = readSync(file, into, done, into.length - done, start + done)
      if (read === 0) throw changed(location)
      done += read
    }
  } finally {
    closeSync(file)
  }
}

const changed = (location: string) => new NotSavable(`${location} changed while it was read`)

/** The folders exist, and no link is among them yet. */
export function writeSlices(slices: readonly FileSlice[], bytes: Buffer): void {
  const umask = process.umask()
  let at = 0
  for (const slice of slices) {
    if (slice.location !== null)
      writeSlice({ ...slice, location: slice.location }, bytes.subarray(at, at + slice.length), umask)
    at += slice.length
  }
}

function writeSlice(
  { location, start, length, fileSize, mode, mtimeMs }: HeldSlice,
  bytes: Buffer,
  umask: number,
): void {
  const isWhole = length === fileSize
  // Several threads write the pieces of a large file, in any order.
  const flags =
    constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | (isWhole ? constants.O_EXCL : 0)
  const file = openSync(location, flags, isWhole ? mode | 0o200 : 0o600)
  try {
    for (let done = 0; done < length;) done += writeSync(file, bytes, done, length - done, start + done)
    if (!isWhole) return
    if ((mode & umask) !== 0 || (mode & 0o200) === 0) fchmodSync(file, mode)
    futimesSync(file, mtimeMs / 1000, mtimeMs / 1000)
  } finally {
    closeSync(file)
  }
}

/** The folders can be written until `finishRoot` sets their modes. Empty files are in no pack, so they are made here. */
export function makeFolders(location: string, entries: readonly CacheEntry[]): void {
  for (const entry of entries) {
    const path = join(location, entry.path)
    if (entry.kind === 'folder') mkdirSync(path, { mode: 0o700 })
    if (entry.kind !== 'file' || entry.size > 0) continue
    writeSlices([{ ...entry, location: path, start: 0, length: 0, fileSize: 0 }], Buffer.alloc(0))
  }
}

export interface FinishedRoot {
  /** Where it was unpacked, in the same folder as `location`. */
  staged: string
  location: string
  entries: readonly CacheEntry[]
  /** Files that were written in pieces. */
  pieced: readonly FileSlice[]
}

/**
 * Puts the unpacked root in place as a whole. What is in a folder there already stays, unless the cache has an entry of the same
 * name.
 */
export function finishRoot({ staged, location, entries, pieced }: FinishedRoot): void {
  for (const { location: file, mode, mtimeMs } of pieced) {
    if (file === null) continue
    chmodSync(file, mode)
    utimesSync(file, mtimeMs / 1000, mtimeMs / 1000)
  }
  for (const entry of entries) {
    if (entry.kind === 'link') symlinkSync(entry.target, join(staged, entry.path))
  }
  const before = lstatSync(location, { throwIfNoEntry: false })
  if (before?.isDirectory()) {
    if (lstatSync(staged).isDirectory()) keepOthers(location, staged)
    else makeDeletable(location)
    rmSync(location, { recursive: true, force: true })
  }
  renameSync(staged, location)
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'folder') chmodSync(join(location, entry.path), entry.mode)
  }
}

/** Moves entries that only `from` has to `to`. The rest can be deleted then, also where folders were read-only. */
function keepOthers(from: string, to: string): void {
  chmodSync(from, lstatSync(from).mode | 0o700)
  for (const name of readdirSync(from)) {
    const [old, restored] = [join(from, name), join(to, name)]
    const { mode, isFolder } = describe(old)
    const found = lstatSync(restored, { throwIfNoEntry: false })
    if (found === undefined) {
      // Moving a folder needs the right to write into it.
      if (isFolder) chmodSync(old, mode | 0o700)
      renameSync(old, restored)
      if (isFolder) chmodSync(restored, mode)
    } else if (isFolder && found.isDirectory()) keepOthers(old, restored)
    else if (isFolder) makeDeletable(old)
  }
}

function makeDeletable(folder: string): void {
  chmodSync(folder, lstatSync(folder).mode | 0o700)
  for (const name of readdirSync(folder)) {
    const inside = join(folder, name)
    if (describe(inside).isFolder) makeDeletable(inside)
  }
}

function describe(path: string): { mode: number; isFolder: boolean } {
  const found = lstatSync(path)
  return { mode: found.mode & 0o7777, isFolder: found.isDirectory() }
}
