// Receives files. Every attempt writes its own object; the first that matches the announcement becomes the artifact's file. So
// concurrent attempts do not disturb each other.
import { createHash, randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { SizeMismatch } from '../../../blobs/store.ts'
import { announce, claim, release, deleteReleased } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { badRequest, notFound, refused } from '../../../lib/errors.ts'
import * as artifacts from './queries.ts'
import type { StoredArtifact } from './queries.ts'

class HashMismatch extends Error {
  constructor(which: string) {
    super(`The file does not have the ${which} it was announced with.`)
  }
}

/** Receives a whole file. Reads the body to its end even if the artifact has a file already. */
export async function receiveFile(
  ctx: Context,
  artifact: StoredArtifact,
  body: AsyncIterable<Buffer>,
): Promise<void> {
  if (artifact.blob_key !== null) return drain(body)
  const key = newBlobKey(artifact)
  await announce(ctx.db, key)
  try {
    await ctx.blobs.put(key, Readable.from(verified(body, artifact)), artifact.file_size)
  } catch (error) {
    await deleteBlob(ctx, key)
    throw await toUploadError(ctx, artifact, error)
  }
  await adopt(ctx, artifact, key)
}

/** Receives one part of a file. Returns its ETag, which the agent reports when all parts are sent. */
export async function receivePart(
  ctx: Context,
  { upload, file_size }: StoredArtifact,
  part: number,
  body: Readable,
  size: number,
): Promise<string> {
  if (!upload?.uploadId || part < 1 || part > upload.parts)
    throw notFound('No part of that number is awaited.')
  if (!(size >= 0 && size <= file_size)) throw badRequest('Say how long the part is, with Content-Length.')
  return ctx.blobs.putPart(upload.key, upload.uploadId, part, body, size)
}

/** Makes the object the artifact's file, unless it has one. False: the object does not match the announcement. */
export async function adoptVerified(ctx: Context, artifact: StoredArtifact, key: string): Promise<boolean> {
  const found = await ctx.blobs.head(key)
  const body = found?.size === artifact.file_size ? await ctx.blobs.get(key) : null
  if (body === null) return false
  try {
    await drain(verified(body, artifact))
  } catch (error) {
    if (isMismatch(error)) return false
    throw error
  }
  await adopt(ctx, artifact, key)
  return true
}

export const newBlobKey = ({ organization_id, id }: StoredArtifact): string =>
  `artifacts/${organization_id}/${id}/${randomUUID()}`

async function adopt(ctx: Context, { id }: StoredArtifact, key: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    if (!(await artifacts.setBlob(trx, id, key))) {
      // A concurrent report may have adopted the same object. Any other object came too late.
      if (!(await artifacts.hasBlob(trx, id, key))) await release(trx, [key])
      return
    }
    if (!(await claim(trx, key))) throw new Error('The file took longer than an object is kept unclaimed.')
  })
}

export async function deleteBlob(ctx: Context, key: string): Promise<void> {
  await release(ctx.db, [key])
  await deleteReleased(ctx.db, ctx.blobs, [key]).catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'The file of a failed upload could not be deleted yet.')
  })
}

const isMismatch = (error: unknown): error is Error =>
  error instanceof SizeMismatch || error instanceof HashMismatch

/** A file that does not match the announcement is the sender's error, and the artifact's state shows it. */
async function toUploadError(ctx: Context, artifact: StoredArtifact, error: unknown): Promise<unknown> {
  if (!isMismatch(error)) return error
  await artifacts.markError(ctx.db, artifact.id)
  return refused(error.message)
}

/** The artifact whose file a ticket allows to send. */
export async function getUploadable(ctx: Context, id: string): Promise<StoredArtifact> {
  const artifact = await artifacts.findSigned(ctx.db, id)
  if (artifact === undefined || artifact.state === 'expired' || artifact.upload_destination !== '') {
    throw notFound('No artifact found')
  }
  return artifact
}

async function drain(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body);
}

/** Passes the bytes on. Fails at the end if a hash differs from the announced one. */
async function* verified(
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
