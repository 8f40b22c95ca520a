// Where large things lie: finished logs and artifacts. Everything streams; nothing holds a whole object in memory.
import { Transform, type Readable } from 'node:stream'
import { unavailable } from '../lib/errors.ts'

export interface BlobStore {
  /** The object appears whole or not at all. The body must have exactly `size` bytes. */
  put(key: string, body: Readable, size: number): Promise<void>
  /** null: there is no such object. Both ends of the range are part of it, and must lie inside the object. */
  get(key: string, range?: ByteRange): Promise<Readable | null>
  /** null: there is no such object. */
  head(key: string): Promise<{ size: number } | null>
  /** Also when there is none. */
  delete(key: string): Promise<void>

  /** Begins an object that comes in parts; returns the id of the upload. */
  startParts(key: string): Promise<string>
  /** Parts may come in any order and again; the last one counts. Returns its tag. */
  putPart(key: string, uploadId: string, part: number, body: Readable, size: number): Promise<string>
  /** Makes the object of its parts. Harmless when that has been done already. */
  completeParts(key: string, uploadId: string, parts: readonly FinishedPart[]): Promise<void>
  abortParts(key: string, uploadId: string): Promise<void>

  /** How clients reach the store by themselves; null where everything goes through this server. */
  readonly direct: DirectAccess | null
  /** Removes what processes left behind that died while they wrote. */
  tidy(olderThan: Date): Promise<void>
}

export interface ByteRange {
  start: number
  end: number
}

export interface FinishedPart {
  part: number
  etag: string
}

/** Addresses that need nothing else to be used. */
export interface DirectAccess {
  getUrl(
    key: string,
    lifetimeSeconds: number,
    shown: { contentType: string; disposition: string },
  ): Promise<string>
  putUrl(key: string, lifetimeSeconds: number): Promise<string>
  putPartUrl(key: string, uploadId: string, part: number, lifetimeSeconds: number): Promise<string>
}

/** The body was longer or shorter than announced. */
export class SizeMismatch extends Error {
  constructor(expected: number) {
    super(`The body does not have the ${expected} bytes it was announced with.`)
  }
}

/** Keys are made by us, from ids. Anything else is a bug, and never gets as far as a path or a URL. */
export function checkKey(key: string): string {
  if (!/^[a-z]+(\/[0-9a-z-]{1,64}){1,6}$/.test(key)) throw new Error(`"${key.slice(0, 100)}" is not a key.`)
  return key
}

/** Passes exactly so many bytes through, or fails with SizeMismatch. */
export function exactly(size: number): Transform {
  let seen = 0
  return new Transform({
    transform(piece: Buffer, _encoding, pass) {
      seen += piece.length
      pass(seen > size ? new SizeMismatch(size) : null, piece)
    },
    flush(end) {
      end(seen === size ? null : new SizeMismatch(size))
    },
  })
}

export const storeFailed = (cause: unknown) =>
  unavailable('The store for logs and artifacts does not do its part. Asking again is safe.', cause)
