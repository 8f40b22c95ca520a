/*
 * A backup is one gzipped tar. Its entries, in this order:
 *
 *   manifest.json      which schema the rest is of
 *   secret-key         only when asked for
 *   tables/NAME/NNNNNN a table's rows as COPY prints them, cut into parts, because tar wants to know sizes ahead
 *   blobs/PATH         the files of the blob store
 *   contents.json      how much of everything there was; its absence shows a file cut short
 */

export const formatVersion = 1

export interface Manifest {
  format: number
  made_at: string
  /** Applied to the database, in the order they were applied. */
  migrations: { name: string; sha256: string }[]
}

export interface Contents {
  /** Rows by table. */
  tables: Record<string, number>
  /** The last value each sequence gave out. */
  sequences: Record<string, number>
  blobs: number
}

export const manifestEntry = 'manifest.json'
export const secretKeyEntry = 'secret-key'
export const contentsEntry = 'contents.json'

export const tableEntry = (table: string, part: number): string =>
  `tables/${table}/${String(part).padStart(6, '0')}`

/** The table an entry belongs to; null for any other entry. */
export const tableOf = (entry: string): string | null => /^tables\/([^/]+)\/\d+$/.exec(entry)?.[1] ?? null

export const blobEntry = (path: string): string => `blobs/${path}`

/** The blob's path; null for any other entry, and for a path that would lead out of the blobs' directory. */
export function blobOf(entry: string): string | null {
  const path = /^blobs\/(.+)$/.exec(entry)?.[1]
  if (path === undefined || path.split('/').some((name) => name === '' || name === '.' || name === '..')) {
    return null
  }
  return path
}
