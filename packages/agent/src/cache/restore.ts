// Restores a cache: downloads and unpacks its packs in parallel, beside their final locations. Only a cache that is complete
// and unharmed is put there.

import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type {
  StepCacheRestoreResponse,
  StoredCacheBlob,
  StoredStepCache,
} from '@millrace/protocol/step-caches.ts'
import { readBlob } from '../api/caches.ts'
import type { Api } from '../http/call.ts'
import { Refused } from '../http/retry.ts'
import { decodeBlob } from './blob-bytes.ts'
import type { FileSlice } from './files.ts'
import { Damaged, filesOf, readManifest } from './manifest.ts'
import type { CacheRoot, Manifest } from './manifest.ts'
import { slicePacks } from './packs.ts'
import type { Slice } from './packs.ts'
import type { CacheLocation } from './locations.ts'
import { concurrently, openThreads } from './threads.ts'
import type { Threads } from './threads.ts'
import type { FileState } from './walk.ts'

/** What was restored. At the end of the job only what differs from it is saved. */
export interface RestoredCache {
  manifestDigest: string
  /** The digests of packs by their slices. */
  digests: ReadonlyMap<string, string>
  /** By `fileKey`. */
  states: ReadonlyMap<string, FileState>
  files: number
  bytes: number
  /** Stored bytes that were downloaded. */
  received: number
}

/** The end of a job needs it to save the cache. */
export interface JobCache {
  save: StepCacheRestoreResponse['save']
  /** null: the job began without a cache. */
  restored: RestoredCache | null
}

export const fileKey = (root: string, path: string): string => `${root}\0${path}`

/** The same for the same parts of the same files. */
export const packKey = (slices: readonly Slice[], rootPaths: readonly string[]): string =>
  slices
    .map(
      ({ root, file, start, length }) => `${fileKey(rootPaths[root] ?? '', file.path)}\0${start}\0${length}`,
    )
    .join('\n')

/** More downloads than threads, so that the threads do not wait for the network. */
const DOWNLOADS_PER_THREAD = 2

/** Throws Damaged if the cache is not whole. Leaves nothing behind when it fails. */
export async function restore(
  api: Api,
  cache: StoredStepCache,
  locations: readonly CacheLocation[],
): Promise<RestoredCache> {
  const manifest = await readStoredManifest(api, cache)
  const wanted = stageRoots(manifest, locations)
  const threads = openThreads()
  try {
    await unpackAll(api, threads, cache, manifest, wanted)
    const states = await readStates(threads, wanted)
    const rootPaths = manifest.roots.map(({ path }) => path)
    const packs = slicePacks(
      filesOf(manifest),
      manifest.packs.map(({ size }) => size),
    )
    const digests = packs.map((slices, index) => [
      packKey(slices, rootPaths),
      manifest.packs[index]?.digest ?? '',
    ])
    return {
      manifestDigest: cache.manifest.digest,
      digests: new Map(digests as Array<[string, string]>),
      states,
      files: filesOf(manifest).length,
      bytes: manifest.packs.reduce((sum, { size }) => sum + size, 0),
      received: [cache.manifest, ...cache.blobs].reduce((sum, { stored_size }) => sum + stored_size, 0),
    }
  } finally {
    await threads.close()
    await Promise.all(
      wanted.map(async (root) => {
        if (root !== undefined) await rm(root.staged, { recursive: true, force: true }).catch(() => {})
      }),
    )
  }
}

async function readStoredManifest(api: Api, { manifest, blobs }: StoredStepCache): Promise<Manifest> {
  const bytes = decodeBlob(await download(api, manifest), manifest)
  try {
    const read = readManifest(bytes)
    const isListed = read.packs.every(({ digest, size }, index) => {
      const blob = blobs[index]
      return blob?.digest === digest && blob.size === size
    })
    if (!isListed || read.packs.length !== blobs.length) throw new Error('the manifest lists other packs')
    return read
  } catch (error) {
    throw new Damaged(manifest.digest, error instanceof Error ? error.message : String(error))
  }
}

async function download(api: Api, blob: StoredCacheBlob): Promise<Buffer> {
  const bytes = await readBlob(api, blob.url).catch((error: unknown) => {
    if (!(error instanceof Refused) || error.status !== 404) throw error
    throw new Damaged(blob.digest, 'a blob is missing')
  })
  if (bytes.length !== blob.stored_size) throw new Damaged(blob.digest, 'a blob is too short or too long')
  return bytes
}

interface StagedRoot extends CacheLocation {
  staged: string
  root: CacheRoot
}

const STAGED = '.restoring-'
const ABANDONED_MS = 24 * 60 * 60 * 1000

/** By the index of the root. Undefined: the root is left out. */
function stageRoots({ roots }: Manifest, locations: readonly CacheLocation[]): Array<StagedRoot | undefined> {
  return roots.map((root) => {
    const found = locations.find(({ path }) => path === root.path)
    if (found === undefined || root.entries.length === 0) return undefined
    const folder = dirname(found.location)
    const prefix = `.${basename(found.location)}${STAGED}`
    mkdirSync(folder, { recursive: true })
    deleteAbandoned(folder, prefix)
    return { ...found, root, staged: join(folder, `${prefix}${randomBytes(6).toString('hex')}`) }
  })
}

/** Files of an agent that was killed while it restored. */
function deleteAbandoned(folder: string, prefix: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix)) continue
    const path = join(folder, name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found !== undefined && found.mtimeMs < Date.now() - ABANDONED_MS)
      void rm(path, { recursive: true, force: true })
  }
}

async function unpackAll(
  api: Api,
  threads: Threads,
  { blobs }: StoredStepCache,
  manifest: Manifest,
  wanted: ReadonlyArray<StagedRoot | undefined>,
): Promise<void> {
  for (const root of wanted) {
    if (root !== undefined) await threads.run('makeFolders', [root.staged, root.root.entries])
  }
  const pieced = wanted.map((): FileSlice[] => [])
  const packs = slicePacks(
    filesOf(manifest),
    manifest.packs.map(({ size }) => size),
  )
  await concurrently(packs, threads.count * DOWNLOADS_PER_THREAD, async (slices, index) => {
    const blob = blobs[index]
    if (blob === undefined || slices.every(({ root }) => wanted[root] === undefined)) return
    const bytes = await download(api, blob)
    const stored = new Uint8Array(bytes)
    await threads.run(
      'unpack',
      [stored, blob, slices.map((slice) => stagedSlice(slice, wanted))],
      [stored.buffer],
    )
    for (const slice of slices) {
      if (slice.length < slice.file.size) pieced[slice.root]?.push(stagedSlice(slice, wanted))
    }
  })
  for (const [index, root] of wanted.entries()) {
    if (root === undefined) continue
    const {
      staged,
      location: target,
      root: { entries },
    } = root
    await threads.run('finish', [{ staged, location: target, entries, pieced: pieced[index] ?? [] }])
  }
}

const stagedSlice = (
  { root, file, start, length }: Slice,
  wanted: ReadonlyArray<StagedRoot | undefined>,
): FileSlice => ({
  location: wanted[root] === undefined ? null : join(wanted[root].staged, file.path),
  start,
  length,
  fileSize: file.size,
  mode: file.mode,
  mtimeMs: file.mtimeMs,
})

async function readStates(
  threads: Threads,
  wanted: ReadonlyArray<StagedRoot | undefined>,
): Promise<Map<string, FileState>> {
  const states = new Map<string, FileState>()
  for (const root of wanted) {
    if (root === undefined) continue
    const walked = await threads.run('walk', [root.location, Number.MAX_SAFE_INTEGER])
    for (const [path, state] of walked.states) states.set(fileKey(root.path, path), state)
  }
  return states
}
