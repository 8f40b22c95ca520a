// Reads a log: from chunks while it grows, from the blob store after compaction.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from '../../../context.ts'
import { cut, planLog, sizeBeforeNotes, sizeOf, type Piece } from './plan.ts'
import * as logs from './queries.ts'

export interface Log {
  /** In bytes, as of now. */
  size: number
  /** The bytes before this offset stay as they are, whatever arrives later. */
  settledSize: number
  /** The job has ended. */
  isFinal: boolean
  isStarted: boolean
  hasFailed: boolean
  /** When the job ended: milliseconds since 1970. */
  endedAt: number | null
  /** null while the log is in chunks. */
  compacted: { rows: logs.StoredRows | null } | null
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
  const { blob_key: key, is_ended: isFinal } = row
  const common = {
    isFinal,
    isStarted: row.is_started,
    hasFailed: row.has_failed,
    endedAt: row.ended_at === null ? null : Date.parse(row.ended_at),
    headerTimes: row.header_times,
  }
  if (key !== null) {
    return {
      ...common,
      size: row.size,
      settledSize: row.size,
      compacted: { rows: storedRowsOf(row) },
      read: (start, end) => readBlob(ctx, key, start, end),
    }
  }
  // The note about the limit comes after it, so a reader who knows the note knows no more of the chunks.
  const known = isFinal ? 0 : Math.min(from, ctx.config.logMaxBytes)
  const { pieces, size } = planLog(await logs.listChunks(ctx.db, jobId, known), {
    from: known,
    isFinal,
    isTruncated: row.is_truncated,
    isAgentLost: row.is_agent_lost,
    limitBytes: ctx.config.logMaxBytes,
  })
  return {
    ...common,
    size: known + size,
    settledSize: known + sizeBeforeNotes(pieces),
    compacted: null,
    read: (start, end) =>
      readChunks(ctx, orgId, jobId, { pieces: cut(pieces, start - known, end - known), start, end }),
  }
}

/** The log of a job whose build is archived. */
export const archivedLog = (
  ctx: Context,
  row: { blob_key: string; size: number; header_times: Record<string, string> },
): Log => ({
  size: row.size,
  settledSize: row.size,
  isFinal: true,
  isStarted: true,
  hasFailed: false,
  endedAt: null,
  compacted: { rows: null },
  headerTimes: row.header_times,
  read: (start, end) => readBlob(ctx, row.blob_key, start, end),
})

const storedRowsOf = ({ rows_blob_key: key, rows_layout: layout }: logs.LogRow): logs.StoredRows | null =>
  key === null || layout === null ? null : { key, layout }

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
