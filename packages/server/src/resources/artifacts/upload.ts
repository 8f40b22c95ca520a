// Takes files in. Every attempt writes an object of its own; the first whose bytes are the announced ones becomes
// the artifact's file, so attempts that meet do each other no harm.
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { SizeMismatch } from '../../blobs/store.ts'
import { announce, claim, release, removeReleased } from '../../blobs/unclaimed.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { badRequest, notFound, refused } from '../../lib/errors.ts'
import * as artifacts from './queries.ts'
import type { StoredArtifact } from './queries.ts'
import { HashMismatch, verified } from './verify.ts'

/** A whole file. The body is read to its end, also when the artifact has its file already. */
export async function receiveFile(ctx: Context, id: string, body: AsyncIterable<Buffer>): Promise<void> {
  const artifact = await getAwaited(ctx, id)
  if (artifact.blob_key !== null) return drain(body)
  const key = newBlobKey(artifact)
  await announce(ctx.db, key)
  try {
    await ctx.blobs.put(key, Readable.from(verified(body, artifact)), artifact.file_size)
  } catch (error) {
    await discard(ctx, key)
    throw await blame(ctx, artifact, error)
  }
  await adopt(ctx, artifact, key)
}

/** One part of a file that comes in several; its tag is for the report that all have come. */
export async function receivePart(
  ctx: Context,
  id: string,
  part: number,
  body: Readable,
  size: number,
): Promise<string> {
  const { upload, file_size } = await getAwaited(ctx, id)
  if (!upload?.uploadId || part < 1 || part > upload.parts)
    throw notFound('No part of that number is awaited.')
  if (!(size >= 0 && size <= file_size)) throw badRequest('Say how long the part is, with Content-Length.')
  return ctx.blobs.putPart(upload.key, upload.uploadId, part, body, size)
}

/** Makes the object at `key` the artifact's file, unless it has one. False: it is not the file that was announced. */
export async function adoptVerified(ctx: Context, artifact: StoredArtifact, key: string): Promise<boolean> {
  const found = await ctx.blobs.head(key)
  const body = found?.size === artifact.file_size ? await ctx.blobs.get(key) : null
  if (body === null) return false
  try {
    await drain(verified(body, artifact))
  } catch (error) {
    if (isTheirs(error)) return false
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
      // Said twice at once, it is the same object; anything else came too late.
      if (!(await artifacts.hasBlob(trx, id, key))) await release(trx, [key])
      return
    }
    if (!(await claim(trx, key))) throw new Error('The file took longer than an object is kept unclaimed.')
  })
}

export async function discard(ctx: Context, key: string): Promise<void> {
  await release(ctx.db, [key])
  await removeReleased(ctx.db, ctx.blobs, [key]).catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'What is left of an upload could not be removed yet.')
  })
}

const isTheirs = (error: unknown): error is Error =>
  error instanceof SizeMismatch || error instanceof HashMismatch

/** A file that is another than announced is the sender's fault, and the artifact shows it. */
async function blame(ctx: Context, artifact: StoredArtifact, error: unknown): Promise<unknown> {
  if (!isTheirs(error)) return error
  await artifacts.markError(ctx.db, artifact.id)
  return refused(error.message)
}

async function getAwaited(ctx: Context, id: string): Promise<StoredArtifact> {
  const artifact = await artifacts.findSigned(ctx.db, id)
  if (artifact === undefined || artifact.state === 'expired' || artifact.upload_destination !== '') {
    throw notFound('No artifact found')
  }
  return artifact
}

async function drain(body: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of body);
}
