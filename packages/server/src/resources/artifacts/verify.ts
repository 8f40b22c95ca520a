// Checks that a file has the announced hashes.
import { createHash } from 'node:crypto'
import type { StoredArtifact } from './queries.ts'

export class HashMismatch extends Error {
  constructor(which: string) {
    super(`The file does not have the ${which} it was announced with.`)
  }
}

/** Passes the bytes on. Fails at the end if a hash differs from the announced one. */
export async function* verified(
  body: AsyncIterable<Buffer>,
  { sha1sum, sha256sum }: Pick<StoredArtifact, 'sha1sum' | 'sha256sum'>,
): AsyncGenerator<Buffer> {
  const sha1 = createHash('sha1')
  const sha256 = sha256sum === null ? null : createHash('sha256')
  for await (const piece of body) {
    sha1.update(piece)
    sha256?.update(piece)
    yield piece
  }
  if (sha1.digest('hex') !== sha1sum) throw new HashMismatch('SHA-1')
  if (sha256 !== null && sha256.digest('hex') !== sha256sum) throw new HashMismatch('SHA-256')
}
