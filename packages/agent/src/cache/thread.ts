// A thread that packs and unpacks blobs of caches.

import { parentPort } from 'node:worker_threads'
import { decodeBlob, digestOf, encodeBlob } from './blob-bytes.ts'
import { finishRoot, makeFolders, readSlices, writeSlices } from './files.ts'
import type { FinishedRoot, FileSlice } from './files.ts'
import type { CacheEntry } from './manifest.ts'
import { Damaged } from './manifest.ts'
import { NotSavable, walkRoot } from './walk.ts'
import type { WalkedRoot } from './walk.ts'

/** The work of the thread. Arguments and results are copied between threads. */
const work = {
  walk: (location: string, mostBytes: number): WalkedRoot => walkRoot(location, mostBytes),
  digest: (slices: FileSlice[]) => digestOf(readSlices(slices)),
  /** The stored form of the slices, which must still have the digest. */
  pack(slices: FileSlice[], digest: string): Uint8Array<ArrayBuffer> {
    const bytes = readSlices(slices)
    if (digestOf(bytes) !== digest) throw new NotSavable('files changed while they were saved')
    return encodeBlob(bytes)
  },
  unpack(stored: Uint8Array, name: { digest: string; size: number }, slices: FileSlice[]): void {
    writeSlices(slices, decodeBlob(stored, name))
  },
  makeFolders: (location: string, entries: CacheEntry[]) => makeFolders(location, entries),
  finish: (root: FinishedRoot) => finishRoot(root),
}

export type ThreadWork = typeof work

export interface ThreadTask {
  id: number
  name: keyof ThreadWork
  args: unknown[]
}

export interface ThreadAnswer {
  id: number
  result?: unknown
  failure?: { message: string; damaged: string | null; isNotSavable: boolean }
}

parentPort?.on('message', ({ id, name, args }: ThreadTask) => {
  try {
    const run = work[name] as (...given: unknown[]) => unknown
    const result = run(...args)
    const isBytes = result instanceof Uint8Array && result.buffer instanceof ArrayBuffer
    const answer: ThreadAnswer = { id, result }
    parentPort?.postMessage(answer, isBytes ? [result.buffer] : [])
  } catch (error) {
    const failure = {
      message: error instanceof Error ? error.message : String(error),
      damaged: error instanceof Damaged ? error.digest : null,
      isNotSavable: error instanceof NotSavable,
    }
    const answer: ThreadAnswer = { id, failure }
    parentPort?.postMessage(answer)
  }
})
