// Stores the chunks of a log that agents send. A chunk is one INSERT that reads nothing before: the statement itself decides
// whether the chunk is new and in time, and its offset whether it is within the limit.
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Context } from '../../context.ts'
import { ApiError, badRequest } from '../../lib/errors.ts'
import { enqueue } from '../../tasks/enqueue.ts'
import * as logs from './queries.ts'
import { segmentBytes } from './segments.ts'

export interface ReceivedChunk {
  sequence: number
  offset: number
  body: Buffer
  isGzip: boolean
}

/** Decompressed. The size that agents are given is far smaller. */
export const mostChunkBytes = 8 * 1024 * 1024

/** The share of chunks after which the total size is checked. */
const overfullChecks = 1 / 256

export async function receiveChunk(
  { db, config }: Context,
  orgId: string,
  jobId: string,
  { sequence, offset, body, isGzip }: ReceivedChunk,
): Promise<void> {
  const text = isGzip ? await inflate(body) : body
  const room = Math.max(config.logMaxBytes - offset, 0)
  if (text.length > room) await logs.markTruncated(db, orgId, jobId)
  const size = Math.min(text.length, room)
  if (size === 0) return
  const data = isGzip && size === text.length ? body : await deflate(text.subarray(0, size))
  await logs.insertChunk(db, orgId, jobId, { sequence, byte_offset: offset, size, data })
  if (needsCheckpoint(offset, size)) {
    await enqueue(db, 'checkpoint_log', { job_id: jobId, organization_id: orgId }, { key: jobId })
  }
  if (Math.random() < overfullChecks) await logs.closeOverfull(db, orgId, jobId, config.logMaxBytes)
}

/** A worker adds checkpoints to a log beyond this size. Those of shorter logs are not worth it unless somebody reads. */
const firstCheckpointBytes = 8 * segmentBytes

/** Once for every segment. */
const needsCheckpoint = (offset: number, size: number) =>
  offset + size > firstCheckpointBytes &&
  Math.floor(offset / segmentBytes) !== Math.floor((offset + size) / segmentBytes)

const inflateSome = promisify(gunzip)
const deflateSome = promisify(gzip)
const deflate = (text: Buffer) => deflateSome(text, { level: 1 })

async function inflate(body: Buffer): Promise<Buffer> {
  try {
    return await inflateSome(body, { maxOutputLength: mostChunkBytes })
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ERR_BUFFER_TOO_LARGE') {
      throw new ApiError(413, `A chunk may have at most ${mostChunkBytes} bytes.`)
    }
    throw badRequest('The chunk is not the gzip it says it is.')
  }
}
