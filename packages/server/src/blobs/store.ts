// A store of large objects: finished logs and artifacts. Objects are streamed and never held in memory as a whole.
import { Transform, type Readable } from 'node:stream'
import { unavailable } from '../lib/errors.ts'

export interface BlobStore {
  /** Atomic: readers never see an incomplete object. The body must have exactly `size` bytes. */
  put(key: string, body: Readable, size: number): Promise<void>
  /** null: the object does not exist. The range includes both ends, which must be inside the object. */
  get(key: string, range?: ByteRange): Promise<Readable | null>
  head(key: string): Promise<{ size: number } | null>
  /** Does nothing if the object does not exist. */
  delete(key: string): Promise<void>

  startParts(key: string): Promise<string>
  /** In any order; a repeated part replaces the earlier one. Returns its ETag. */
  putPart(key: string, uploadId: string, part: number, body: Readable, size: number): Promise<string>
  /** Assembles the object from its parts. Safe to repeat. */
  completeParts(key: string, uploadId: string, parts: readonly FinishedPart[]): Promise<void>
  abortParts(key: string, uploadId: string): Promise<void>

  /** URLs with which clients use the store directly; null: all data goes through this server. */
  readonly direct: DirectAccess | null
  /** Deletes unfinished files of processes that died. */
  tidy(olderThan: Date): Promise<void>
}

interface ByteRange {
  start: number
  end: number
}

interface FinishedPart {
  part: number
  etag: string
}

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

/** We make keys from ids. Any other key is a bug and must not become part of a path or a URL. */
export function checkKey(key: string): string {
  if (!/^[a-z]+(\/[0-9a-z-]{1,64}){1,6}$/.test(key)) throw new Error(`"${key.slice(0, 100)}" is not a key.`)
  return key
}

export function exactly(size: number, onPiece: () => void = () => {}): Transform {
  let seen = 0
  return new Transform({
    transform(piece: Buffer, _encoding, pass) {
      seen += piece.length
      onPiece()
      pass(seen > size ? new SizeMismatch(size) : null, piece)
    },
    flush(end) {
      end(seen === size ? null : new SizeMismatch(size))
    },
  })
}

export const storeFailed = (cause: unknown) =>
  unavailable('The store for logs and artifacts does not do its part. Asking again is safe.', cause)
