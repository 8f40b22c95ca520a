// The list of everything in a cache. The contents of its files, one after the other in this order, are one stream of bytes, and
// the packs are consecutive pieces of that stream.

export type CacheEntry =
  | { kind: 'folder'; path: string; mode: number }
  | { kind: 'file'; path: string; mode: number; mtimeMs: number; size: number }
  | { kind: 'link'; path: string; target: string }

type FileEntry = Extract<CacheEntry, { kind: 'file' }>

export interface CacheRoot {
  /** As the step writes it. */
  path: string
  /** Folders come before what is in them. Paths are relative to the root; the root's own is empty. None: it does not exist. */
  entries: CacheEntry[]
}

export interface PackName {
  /** SHA-256 of the contents before compression. */
  digest: string
  size: number
}

export interface Manifest {
  roots: CacheRoot[]
  packs: PackName[]
}

/** A blob or a manifest is not what was saved. */
export class Damaged extends Error {
  readonly digest: string
  constructor(digest: string, reason: string) {
    super(reason)
    this.name = 'Damaged'
    this.digest = digest
  }
}

const VERSION = 1

/** The same contents give the same bytes. */
export function writeManifest({ roots, packs }: Manifest): Buffer {
  const written = {
    version: VERSION,
    roots: roots.map(({ path, entries }) => ({ path, entries: entries.map(writeEntry) })),
    packs: packs.map(({ digest, size }) => [digest, size]),
  }
  return Buffer.from(JSON.stringify(written))
}

function writeEntry(entry: CacheEntry): unknown[] {
  if (entry.kind === 'folder') return ['d', entry.path, entry.mode]
  if (entry.kind === 'link') return ['l', entry.path, entry.target]
  return ['f', entry.path, entry.mode, entry.mtimeMs, entry.size]
}

/** Another job wrote it, so nothing in it is trusted. Throws an error with the reason. */
export function readManifest(bytes: Buffer): Manifest {
  const given: unknown = JSON.parse(bytes.toString('utf8'))
  if (!isRecord(given) || given['version'] !== VERSION) throw new Error('the manifest has another version')
  const manifest = {
    roots: listOf(given['roots']).map(readRoot),
    packs: listOf(given['packs']).map(readPack),
  }
  const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0)
  const inFiles = sum(filesOf(manifest).map(({ file }) => file.size))
  if (inFiles !== sum(manifest.packs.map(({ size }) => size))) throw wrong('sizes')
  return manifest
}

export interface FileInRoot {
  root: number
  file: FileEntry
}

/** All files, in the order of the stream. */
export const filesOf = ({ roots }: Pick<Manifest, 'roots'>): FileInRoot[] =>
  roots.flatMap(({ entries }, root) =>
    entries.flatMap((file) => (file.kind === 'file' ? [{ root, file }] : [])),
  )

function readRoot(given: unknown): CacheRoot {
  if (!isRecord(given) || typeof given['path'] !== 'string') throw wrong('roots')
  const entries = listOf(given['entries']).map(readEntry)
  const folders = new Set<string>()
  const seen = new Set<string>()
  for (const [index, { path, kind }] of entries.entries()) {
    const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
    const isRoot = path === ''
    if (isRoot !== (index === 0) || seen.has(path) || (!isRoot && !folders.has(parent))) throw wrong('paths')
    seen.add(path)
    if (kind === 'folder') folders.add(path)
  }
  if (entries[0]?.kind === 'link') throw wrong('paths')
  return { path: given['path'], entries }
}

function readEntry(given: unknown): CacheEntry {
  const [kind, path, a, b, c] = listOf(given)
  if (typeof path !== 'string' || !isSafe(path)) throw wrong('paths')
  if (kind === 'l' && typeof a === 'string' && a !== '' && !a.includes('\0')) {
    return { kind: 'link', path, target: a }
  }
  const mode = readNumber(a)
  if (mode > 0o777) throw wrong('modes')
  if (kind === 'd') return { kind: 'folder', path, mode }
  if (kind !== 'f' || typeof b !== 'number' || !Number.isFinite(b)) throw wrong('entries')
  return { kind: 'file', path, mode, mtimeMs: b, size: readNumber(c) }
}

const isSafe = (path: string) =>
  path === '' ||
  (!path.includes('\0') && path.split('/').every((name) => name !== '' && name !== '.' && name !== '..'))

function readPack(given: unknown): PackName {
  const [digest, size] = listOf(given)
  if (typeof digest !== 'string') throw wrong('packs')
  return { digest, size: readNumber(size) }
}

function readNumber(given: unknown): number {
  if (typeof given !== 'number' || !Number.isSafeInteger(given) || given < 0) throw wrong('numbers')
  return given
}

function listOf(given: unknown): unknown[] {
  if (!Array.isArray(given)) throw wrong('lists')
  return given
}

const isRecord = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' && given !== null

const wrong = (what: string) => new Error(`the manifest has wrong ${what}`)
