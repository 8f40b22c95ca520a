// Reads a log: from chunks while it grows, from the blob store after compaction.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from '../../context.ts'
import { cut, planLog, sizeOf, type Piece } from './plan.ts'
import * as logs from './queries.ts'

export interface Log {
  /** In bytes, as of now. */
  size: number
  /** The job has ended. */
  isFinal: boolean
  isStarted: boolean
  /** When sections began, as the agent has reported beside the output. */
  headerTimes: Record<string, string>
  /** Bytes `start` up to, not including, `end`. */
  read(start: number, end: number): AsyncGenerator<Buffer>
}

/** null: the job runs no command, or its log was deleted. */
export async function findLog(ctx: Context, orgId: string, jobId: string): Promise<Log | null> {
  return findLogFrom(ctx, orgId, jobId, 0)
}

/** For a reader who knows the log up to `from`: only the chunks after it are listed. */
export async function findLogFrom(
  ctx: Context,
  orgId: string,
  jobId: string,
  from: number,
): Promise<Log | null> {
  const row = await logs.find(ctx.db, orgId, jobId)
  if (row === undefined || row.kind !== 'script' || row.is_deleted) return null
  const { blob_key: key, is_ended: isFinal, is_started: isStarted, header_times: headerTimes } = row
  if (key !== null) {
    return {
      size: row.size,
      isFinal,
      isStarted,
      headerTimes,
      read: (start, end) => readBlob(ctx, key, start, end),
    }
  }
  const known = isFinal ? 0 : from
  const { pieces, size } = planLog(await logs.listChunks(ctx.db, jobId, known), {
    from: known,
    isFinal,
    isTruncated: row.is_truncated,
    isAgentLost: row.is_agent_lost,
    limitBytes: ctx.config.logMaxBytes,
  })
  return {
    size: known + size,
    isFinal,
    isStarted,
    headerTimes,
    read: (start, end) =>
      readChunks(ctx, orgId, jobId, { pieces: cut(pieces, start - known, end - known), start, end }),
  }
}

async function* readBlob(ctx: Context, key: string, start: number, end: number): AsyncGenerator<Buffer> {
  if (start >= end) return
  const stream = await ctx.blobs.get(key, { start, end: end - 1 })
  if (stream === null) throw new Error(`The log's object ${key} is not in the store.`)
  yield* stream as AsyncIterable<Buffer>
}

const inflate = promisify(gunzip)
const mostPieces = 64
const mostBytes = 2 * 1024 * 1024

async function* readChunks(
  ctx: Context,
  orgId: string,
  jobId: string,
  { pieces, start, end }: { pieces: readonly Piece[]; start: number; end: number },
): AsyncGenerator<Buffer> {
  let position = start
  for (const batch of batches(pieces)) {
    const sequences = batch.flatMap((piece) => (piece.kind === 'chunk' ? [piece.sequence] : []))
    const found = await logs.readChunks(ctx.db, jobId, sequences)
    for (const piece of batch) {
      const data = piece.kind === 'note' ? piece.bytes : await inflatePart(found.get(piece.sequence), piece)
      if (data === null) {
        // The log was compacted meanwhile, so the same bytes are in the blob store now; or it was deleted.
        const finished = await findLog(ctx, orgId, jobId)
        if (finished !== null) yield* finished.read(position, Math.min(end, finished.size))
        return
      }
      yield data
      position += data.length
    }
  }
}

async function inflatePart(
  data: Buffer | undefined,
  { from, to }: { from: number; to: number },
): Promise<Buffer | null> {
  if (data === undefined) return null
  return (await inflate(data)).subarray(from, to)
}

function* batches(pieces: readonly Piece[]): Generator<Piece[]> {
  let batch: Piece[] = []
  let size = 0
  for (const piece of pieces) {
    if (batch.length === mostPieces || (batch.length > 0 && size + sizeOf(piece) > mostBytes)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(piece)
    size += sizeOf(piece)
  }
  if (batch.length > 0) yield batch
}
