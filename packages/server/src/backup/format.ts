/*
 * A backup is one gzipped tar. Its entries, in this order:
 *
 *   manifest.json      the schema of the rest
 *   secret-key         only when asked for
 *   tables/NAME/NNNNNN a table's rows in COPY format, in parts, because tar needs each size in advance
 *   blobs/PATH         the files of the blob store
 *   contents.json      the number of rows and blobs; a truncated file lacks it
 */

export const formatVersion = 1

export interface Manifest {
  format: number
  made_at: string
  /** In the order in which they were applied. */
  migrations: { name: string; sha256: string }[]
}

export interface Contents {
  /** Rows by table. */
  tables: Record<string, number>
  /** The last value of each sequence. */
  sequences: Record<string, number>
  blobs: number
}

export const manifestEntry = 'manifest.json'
export const secretKeyEntry = 'secret-key'
export const contentsEntry = 'contents.json'

export const tableEntry = (table: string, part: number): string =>
  `tables/${table}/${String(part).padStart(6, '0')}`

/** The table of an entry; null for other entries. */
export const tableOf = (entry: string): string | null => /^tables\/([^/]+)\/\d+$/.exec(entry)?.[1] ?? null

export const blobEntry = (path: string): string => `blobs/${path}`

/** The blob's path; null for other entries, and for a path that leads out of the blobs' directory. */
export function blobOf(entry: string): string | null {
  const path = /^blobs\/(.+)$/.exec(entry)?.[1]
  if (path === undefined || path.split('/').some((name) => name === '' || name === '.' || name === '..')) {
    return null
  }
  return path
}
