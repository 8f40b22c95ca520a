// Stores the chunks of a log that agents send. Nothing is read before the INSERT (chunk-writer.ts): the statement itself decides
// whether the chunk is new and in time, and its offset whether it is within the limit.
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Context } from '../../../../context.ts'
import { ApiError, badRequest } from '../../../../lib/errors.ts'
import { enqueue } from '../../../../tasks/enqueue.ts'
import { chunkWriter } from './chunk-writer.ts'
import * as logs from '../queries.ts'
import { segmentBytes } from '../rows/segments.ts'

interface ReceivedChunk {
  sequence: number
  offset: number
  body: Buffer
  isGzip: boolean
  /** The end of the job waits for it. */
  isLast?: boolean
}

/** Decompressed. The size that agents are given is far smaller. */
export const mostChunkBytes = 8 * 1024 * 1024

/** The share of chunks after which the total size is checked. */
const overfullChecks = 1 / 256

/** False: the job has ended too long ago, and the chunk is not stored. */
export async function receiveChunk(
  { db, config, metrics }: Context,
  orgId: string,
  jobId: string,
  { sequence, offset, body, isGzip, isLast = false }: ReceivedChunk,
): Promise<boolean> {
  const text = isGzip ? await inflate(body) : body
  const room = Math.max(config.logMaxBytes - offset, 0)
  if (text.length > room) await logs.markTruncated(db, orgId, jobId)
  const size = Math.min(text.length, room)
  if (size === 0) return true
  const data = isGzip && size === text.length ? body : await deflate(text.subarray(0, size))
  const chunk = { organization_id: orgId, job_id: jobId, sequence, byte_offset: offset, size, data }
  const isInTime = await (isLast ? chunkWriter(db).writeLast(chunk) : chunkWriter(db).write(chunk))
  if (!isInTime) return false
  metrics.logChunks.inc()
  metrics.logBytes.inc(size)
  if (needsCheckpoint(offset, size)) {
    const task = { job_id: jobId, organization_id: orgId }
    await enqueue(db, 'checkpoint_log', task, { key: jobId, afterSeconds: checkpointSeconds })
  }
  if (Math.random() < overfullChecks) await logs.closeOverfull(db, orgId, jobId, config.logMaxBytes)
  return true
}

/** A worker adds checkpoints to a log beyond this size. Those of shorter logs are not worth it unless somebody reads. */
const firstCheckpointBytes = 8 * segmentBytes

/** Checkpoints cost much CPU, which the chunks of a job that prints very fast need first. */
const checkpointSeconds = 10

/** Once for this many bytes. */
const needsCheckpoint = (offset: number, size: number) =>
  Math.floor(offset / firstCheckpointBytes) !== Math.floor((offset + size) / firstCheckpointBytes)

const inflateSome = promisify(gunzip)
const deflateSome = promisify(gzip)
const deflate = (text: Buffer) => deflateSome(text, { level: 1 })

/**
 * A buffer for the whole text, because every further one is a wake-up of this thread. The size is at the end of a gzip; it
 * may be wrong.
 */
function outputBytesOf(body: Buffer): number {
  const size = body.length < 4 ? 0 : body.readUInt32LE(body.length - 4)
  return Math.min(Math.max(size + 1, 64), mostOutputBytes)
}

const mostOutputBytes = 1024 * 1024

async function inflate(body: Buffer): Promise<Buffer> {
  try {
    return await inflateSome(body, { maxOutputLength: mostChunkBytes, chunkSize: outputBytesOf(body) })
  } catch (error) {
    if (error instanceof Error && Reflect.get(error, 'code') === 'ERR_BUFFER_TOO_LARGE') {
      throw new ApiError(413, `A chunk may have at most ${mostChunkBytes} bytes.`)
    }
    throw badRequest('The chunk is not the gzip it says it is.')
  }
}
