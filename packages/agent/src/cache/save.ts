// Saves a cache: finds the packs that the server does not have, and sends those.

import { announceBlobs, saveCache, writeBlob } from '../api/caches.ts'
import type { Api } from '../http/call.ts'
import { digestOf, encodeBlob } from './blob-bytes.ts'
import type { FileSlice } from './files.ts'
import { filesOf, writeManifest } from './manifest.ts'
import type { CacheRoot, PackName } from './manifest.ts'
import { cutPacks } from './packs.ts'
import type { Pack, Slice } from './packs.ts'
import type { CacheLocation } from './locations.ts'
import { platform } from './platform.ts'
import { fileKey, packKey } from './restore.ts'
import type { RestoredCache } from './restore.ts'
import { concurrently, openThreads } from './threads.ts'
import type { Threads } from './threads.ts'
import type { FileState } from './walk.ts'

type SaveResult =
  | { kind: 'empty' }
  | { kind: 'unchanged' }
  | {
      kind: 'saved'
      files: number
      bytes: number
      packs: number
      sentPacks: number
      sentBytes: number
      storedBytes: number
      leftOut: number
    }

interface Saving {
  jobId: string
  /** null: the cache is that of the step. */
  key: { key: string; paths: string[] } | null
  locations: readonly CacheLocation[]
  mostBytes: number
  /** null: the job began without a cache. */
  restored: RestoredCache | null
}

/** Throws NotSavable if a file cannot be saved as it is. */
export async function save(api: Api, saving: Saving): Promise<SaveResult> {
  const threads = openThreads()
  try {
    return await saveWith(api, threads, saving)
  } finally {
    await threads.close()
  }
}

async function saveWith(api: Api, threads: Threads, saving: Saving): Promise<SaveResult> {
  const { jobId, key, locations, restored } = saving
  const { roots, states, leftOut } = await walkAll(threads, saving)
  const files = filesOf({ roots })
  if (roots.every(({ entries }) => entries.length === 0)) return { kind: 'empty' }
  const rootPaths = roots.map(({ path }) => path)
  const packs = cutPacks(files, rootPaths)
  const names: PackName[] = packs.map(({ size }) => ({ digest: '', size }))
  await concurrently(packs, threads.count, async ({ slices }, index) => {
    const known = knownDigest(slices, rootPaths, states, restored)
    const digest =
      known ?? (await threads.run('digest', [slices.map((slice) => sourceSlice(slice, locations))]))
    names[index] = { digest, size: packs[index]?.size ?? 0 }
  })
  const manifestBytes = writeManifest({ roots, packs: names })
  const manifest = { digest: digestOf(manifestBytes), size: manifestBytes.length }
  if (manifest.digest === restored?.manifestDigest) return { kind: 'unchanged' }
  const sent = await sendMissing(api, threads, saving, { packs, names, manifest, manifestBytes })
  const withUpload = (name: PackName) => ({ ...name, upload_id: sent.uploads.get(name.digest) ?? null })
  const { stored_bytes: storedBytes } = await saveCache(api, jobId, {
    platform,
    ...key,
    manifest: withUpload(manifest),
    blobs: names.map(withUpload),
    file_count: files.length,
  })
  return {
    kind: 'saved',
    files: files.length,
    bytes: names.reduce((sum, { size }) => sum + size, 0),
    packs: packs.length,
    sentPacks: sent.packs,
    sentBytes: sent.bytes,
    storedBytes,
    leftOut,
  }
}

async function walkAll(
  threads: Threads,
  { locations, mostBytes }: Saving,
): Promise<{ roots: CacheRoot[]; states: Map<string, FileState>; leftOut: number }> {
  const roots: CacheRoot[] = []
  const states = new Map<string, FileState>()
  let leftOut = 0
  for (const { path, location } of locations) {
    const walked = await threads.run('walk', [location, mostBytes])
    roots.push({ path, entries: walked.entries })
    for (const [file, state] of walked.states) states.set(fileKey(path, file), state)
    leftOut += walked.leftOut
  }
  return { roots, states, leftOut }
}

/** The digest of a pack whose files are those that were restored. */
function knownDigest(
  slices: readonly Slice[],
  rootPaths: readonly string[],
  states: ReadonlyMap<string, FileState>,
  restored: RestoredCache | null,
): string | undefined {
  if (restored === null) return undefined
  const isSame = slices.every(({ root, file }) => {
    const key = fileKey(rootPaths[root] ?? '', file.path)
    const state = states.get(key)
    return state !== undefined && state !== '' && state === restored.states.get(key)
  })
  return isSame ? restored.digests.get(packKey(slices, rootPaths)) : undefined
}

interface Contents {
  packs: readonly Pack[]
  names: readonly PackName[]
  manifest: PackName
  manifestBytes: Buffer
}

async function sendMissing(
  api: Api,
  threads: Threads,
  { jobId, locations }: Saving,
  { packs, names, manifest, manifestBytes }: Contents,
): Promise<{ uploads: Map<string, string>; packs: number; bytes: number }> {
  const byDigest = new Map(names.map(({ digest }, index) => [digest, packs[index]]))
  const { uploads } = await announceBlobs(api, jobId, { blobs: [manifest, ...uniqueOf(names)] })
  let bytes = 0
  await concurrently(uploads, threads.count + 1, async ({ digest, url }) => {
    const slices = byDigest.get(digest)?.slices.map((slice) => sourceSlice(slice, locations))
    const stored =
      slices === undefined
        ? encodeBlob(manifestBytes)
        : Buffer.from(await threads.run('pack', [slices, digest]))
    await writeBlob(api, url, stored)
    bytes += stored.length
  })
  const sentPacks = uploads.filter(({ digest }) => byDigest.has(digest)).length
  return {
    uploads: new Map(uploads.map(({ digest, upload_id }) => [digest, upload_id])),
    packs: sentPacks,
    bytes,
  }
}

const uniqueOf = (names: readonly PackName[]): PackName[] => [
  ...new Map(names.map((name) => [name.digest, name])).values(),
]

const sourceSlice = (
  { root, file, start, length }: Slice,
  locations: readonly CacheLocation[],
): FileSlice => ({
  location:
    file.path === '' ? (locations[root]?.location ?? '') : `${locations[root]?.location ?? ''}/${file.path}`,
  start,
  length,
  fileSize: file.size,
  mode: file.mode,
  mtimeMs: file.mtimeMs,
})
