// Takes what agents send of a log. A chunk is one INSERT and reads nothing: whether it is new, late or beyond the
// limit is decided by the statement itself and by where the chunk says it belongs.
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Context } from '../../context.ts'
import { ApiError, badRequest } from '../../lib/errors.ts'
import * as logs from './queries.ts'

export interface ReceivedChunk {
  sequence: number
  offset: number
  body: Buffer
  isGzip: boolean
}

/** After inflation. Agents are told to send far less at once. */
export const mostChunkBytes = 8 * 1024 * 1024

/** How rarely it is looked at how much there is. */
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
  if (Math.random() < overfullChecks) await logs.closeOverfull(db, orgId, jobId, config.logMaxBytes)
}

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
