// A log to read from, wherever it lies: in chunks while it grows, in the blob store when it is finished.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from '../../context.ts'
import { cut, planLog, sizeOf, type Piece } from './plan.ts'
import * as logs from './queries.ts'

export interface Log {
  /** Bytes; of a log that grows, as of now. */
  size: number
  /** Nothing will be added. */
  isFinal: boolean
  /** Whether the job has begun at all. */
  isStarted: boolean
  /** When sections began, as far as the agent has reported it apart from the output. */
  headerTimes: Record<string, string>
  /** Bytes `start` up to, not including, `end`. */
  read(start: number, end: number): AsyncGenerator<Buffer>
}

/** null: the job has no log, because it is none that runs a command or because the log was deleted. */
export async function findLog(ctx: Context, orgId: string, jobId: string): Promise<Log | null> {
  return findLogFrom(ctx, orgId, jobId, 0)
}

/** The same for a reader who knows the log up to `from`: of a log that grows, only what follows is looked at. */
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
        // The log was finished meanwhile: the same bytes lie elsewhere now. Or it was deleted.
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
