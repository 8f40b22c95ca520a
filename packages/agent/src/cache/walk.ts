// Lists what is below a cached path. Links are listed, never followed.

import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import type { CacheEntry } from './manifest.ts'

/** The cache cannot be saved as it is. */
export class NotSavable extends Error {}

/** Changes whenever the file does, even if its time is set back. */
export type FileState = string

export interface WalkedRoot {
  entries: CacheEntry[]
  /** By the path of each file. */
  states: Map<string, FileState>
  /** Sockets, pipes and devices, which are left out. */
  leftOut: number
}

/** Throws NotSavable above so many bytes. */
export function walkRoot(location: string, mostBytes: number): WalkedRoot {
  const walked: WalkedRoot = { entries: [], states: new Map(), leftOut: 0 }
  const startedMs = Date.now()
  let bytes = 0

  function add(path: string, found: Stats): void {
    const mode = found.mode & 0o777
    if (found.isDirectory()) {
      walked.entries.push({ kind: 'folder', path, mode })
      addFolder(path)
    } else if (found.isSymbolicLink()) {
      walked.entries.push({ kind: 'link', path, target: readlinkSync(join(location, path)) })
    } else if (found.isFile()) {
      bytes += found.size
      if (bytes > mostBytes) throw new NotSavable(`it has more than ${mostBytes} bytes, which is the limit`)
      // Rounded, because Node sets times less exactly than it reads them.
      walked.entries.push({ kind: 'file', path, mode, mtimeMs: Math.round(found.mtimeMs), size: found.size })
      walked.states.set(path, stateOf(found, startedMs))
    } else walked.leftOut += 1
  }

  function addFolder(path: string): void {
    // Sorted, so that the same files give the same manifest on every file system.
    for (const name of readdirSync(join(location, path)).sort()) {
      const inside = path === '' ? name : `${path}/${name}`
      if (name.includes('\uFFFD')) throw new NotSavable(`the name of ${inside} is not valid UTF-8`)
      add(inside, lstatSync(join(location, inside)))
    }
  }

  const root = lstatSync(location, { throwIfNoEntry: false })
  if (root !== undefined) add('', root)
  return walked
}

/** File systems count time in steps. A file that changed less than a few steps ago could change again unseen. */
const STEP_MS = 50

const stateOf = ({ ino, size, ctimeMs }: Stats, nowMs: number): FileState =>
  ctimeMs > nowMs - STEP_MS ? '' : `${ino} ${size} ${ctimeMs}`
