// The stored form of a blob: one byte for the encoding, then the bytes. Every version of Node that runs agents can read it.

import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { Damaged } from './manifest.ts'

const PLAIN = 0
const DEFLATED = 1
/** Fast; the next levels save few bytes. */
const LEVEL = 1
const SAMPLE_BYTES = 64 * 1024
/** Compressed files do not get smaller. */
const WORTH_IT = 0.95

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

export function encodeBlob(bytes: Uint8Array): Buffer<ArrayBuffer> {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const isSmaller = deflateRawSync(sample, { level: LEVEL }).length < sample.length * WORTH_IT
  const body = isSmaller ? deflateRawSync(bytes, { level: LEVEL }) : bytes
  const encoded = Buffer.allocUnsafeSlow(body.length + 1)
  encoded[0] = isSmaller ? DEFLATED : PLAIN
  encoded.set(body, 1)
  return encoded
}

/** Throws Damaged unless the contents have the digest and the size. */
export function decodeBlob(stored: Uint8Array, { digest, size }: { digest: string; size: number }): Buffer {
  const bytes = decode(stored, digest, size)
  if (bytes.length !== size || digestOf(bytes) !== digest)
    throw new Damaged(digest, 'a blob has other contents')
  return bytes
}

function decode(stored: Uint8Array, digest: string, size: number): Buffer {
  const encoding = stored[0]
  if (encoding !== PLAIN && encoding !== DEFLATED) throw new Damaged(digest, 'a blob has an unknown encoding')
  const body = Buffer.from(stored.buffer, stored.byteOffset + 1, stored.byteLength - 1)
  if (encoding === PLAIN) return body
  try {
    return inflateRawSync(body, { maxOutputLength: Math.max(1, size) })
  } catch {
    throw new Damaged(digest, 'a blob cannot be unpacked')
  }
}
