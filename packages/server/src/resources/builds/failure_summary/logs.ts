// The failing rows of several logs. Each log costs a bounded amount: the part of its rows that is shown, or its last bytes.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Context } from '../../../context.ts'
import { compiledModule } from '../../../lib/package-files.ts'
import { Semaphore } from '../../../lib/semaphore.ts'
import { runInThread, type WorkOwner } from '../../../lib/threads.ts'
import { stateOf } from '../log/rows/checkpoint-queries.ts'
import type { LogOutline } from '../log/rows/outline.ts'
import { cut, planLog } from '../log/plan.ts'
import {
  findBlock,
  inflateRows,
  readBlocks,
  readOutline,
  readPart,
  readTable,
} from '../log/rows/rows-object.ts'
import { parseRow } from '../log/screen/row.ts'
import type { StoredRows } from '../log/queries.ts'
import { chooseRows } from '../log/failing-line/excerpt.ts'
import { presentRows, type Excerpt, type ReadRow } from './excerpt.ts'
import { readEnds, type Checkpoint, type EndChunk, type LogRow } from './log-queries.ts'
import type { LogStatus } from './schema.ts'
import type { readTails, Tail } from './tail-tasks.ts'

export type FoundLog = { status: Exclude<LogStatus, 'shown'> } | { status: 'shown'; excerpt: Excerpt }

const inflate = promisify(gunzip)

/** The bytes of all logs together that are replayed for one summary, and the limits for each. */
const mostBytesOfAll = 4 * 1024 * 1024
const [leastBytes, mostBytes] = [32 * 1024, 256 * 1024]
/** A larger outline is not read, and the log shown from its end. */
const mostOutlineBytes = 2 * 1024 * 1024
const mostBlockBytes = 4 * 1024 * 1024
const mostBlocks = 3
const mostCpuMs = 10_000
/** Reads from the store at the same time. */
const readers = new Semaphore(16)

/** Jobs that run no command are missing. */
export async function findFailingRows(
  ctx: Context,
  orgId: string,
  jobIds: readonly string[],
  mostRows: number,
  work: WorkOwner,
): Promise<Map<string, FoundLog>> {
  if (jobIds.length === 0) return new Map()
  const bytesEach = Math.min(Math.max(Math.floor(mostBytesOfAll / jobIds.length), leastBytes), mostBytes)
  const { checkpoints, chunks, logs } = await readEnds(ctx.db, orgId, jobIds, bytesEach)
  const found = new Map<string, FoundLog>()
  const tails = new Map<string, Tail>()
  const read = async (log: LogRow) => {
    const { job_id: id } = log
    if (log.is_deleted) return void found.set(id, { status: 'deleted' })
    if (log.blob_key !== null && log.rows_blob_key !== null && log.rows_layout !== null) {
      const stored = { key: log.rows_blob_key, layout: log.rows_layout }
      return void found.set(id, shownOrEmpty(await readStored(ctx, stored, mostRows)))
    }
    tails.set(
      id,
      log.blob_key === null
        ? await tailOfChunks(ctx, log, {
            chunks: chunks.filter((chunk) => chunk.job_id === id),
            checkpoint: checkpoints.find((checkpoint) => checkpoint.job_id === id),
          })
        : await tailOfBlob(ctx, log.blob_key, log.size, bytesEach),
    )
  }
  await Promise.all(
    logs.map((log) =>
      readers.run(async () =>
        read(log).catch((error: unknown) => {
          ctx.log.warn({ err: error, job_id: log.job_id }, 'Could not read a log for a failure summary.')
          found.set(log.job_id, { status: 'unavailable' })
        }),
      ),
    ),
  )
  const excerpts = tails.size === 0 ? [] : await replay([...tails.values()], mostRows, work)
  for (const [index, id] of [...tails.keys()].entries()) {
    const excerpt = excerpts[index]
    if (excerpt !== undefined) found.set(id, shownOrEmpty(excerpt))
  }
  return found
}

const shownOrEmpty = (excerpt: Excerpt): FoundLog =>
  excerpt.rows.length === 0 ? { status: 'empty' } : { status: 'shown', excerpt }

const replay = (tails: readonly Tail[], mostRows: number, work: WorkOwner): Promise<Excerpt[]> =>
  runInThread<typeof readTails>(
    work,
    compiledModule('resources/builds/failure_summary/tail-tasks.ts'),
    'readTails',
    { tails, mostRows },
    mostCpuMs,
  )

async function readStored(ctx: Context, stored: StoredRows, mostRows: number): Promise<Excerpt> {
  const { rows: total } = stored.layout
  const outline = await findOutline(ctx, stored)
  const known = { groups: outline?.groups ?? [], failingRow: outline?.failingRow ?? null, first: 1, total }
  const { group, failingRow, ranges, leftOut } = chooseRows(known, mostRows)
  const chosen: ReadRow[] = []
  for (const range of ranges) chosen.push(...(await readRange(ctx, stored, range)))
  const wanted = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
  return {
    group,
    failing_row: failingRow,
    total_rows: total,
    ...presentRows(chosen),
    leftOut: leftOut + wanted - chosen.length,
  }
}

async function findOutline(ctx: Context, stored: StoredRows): Promise<LogOutline | null> {
  const { outline_at: start, size } = stored.layout
  if (size - start > mostOutlineBytes) return null
  return readOutline(ctx, stored, mostOutlineBytes).catch((error: unknown) => {
    if (error instanceof RangeError) return null
    throw error
  })
}

/** Rows that are longer than a few blocks are left out. */
async function readRange(ctx: Context, stored: StoredRows, [from, to]: [number, number]): Promise<ReadRow[]> {
  const table = await readTable(ctx, stored)
  const last = findBlock(table, to)
  const first = Math.max(findBlock(table, from), last - mostBlocks + 1)
  const shown: ReadRow[] = []
  for (const block of await readBlocks(ctx, stored, table, first, last)) {
    const { firstRow } = block
    const rows = await inflateRows(block, mostBlockBytes)
    for (let row = Math.max(from, firstRow); row <= to && row - firstRow < rows.length; row++)
      shown.push({ row, content: parseRow(rows[row - firstRow] ?? '[null]') })
  }
  return shown
}

async function tailOfChunks(
  ctx: Context,
  log: LogRow,
  { chunks, checkpoint }: { chunks: readonly EndChunk[]; checkpoint: Checkpoint | undefined },
): Promise<Tail> {
  const start = Math.min(...chunks.map(({ byte_offset }) => byte_offset))
  const isKnown = checkpoint !== undefined && checkpoint.byte_offset >= start
  const { pieces, size } = planLog(chunks, {
    from: Number.isFinite(start) ? start : 0,
    isFinal: log.is_ended,
    isTruncated: log.is_truncated,
    isAgentLost: log.is_agent_lost,
    limitBytes: ctx.config.logMaxBytes,
  })
  const dataOf = new Map(chunks.map(({ sequence, data }) => [sequence, data]))
  const parts: Buffer[] = []
  for (const piece of isKnown ? cut(pieces, checkpoint.byte_offset - start, size) : pieces) {
    if (piece.kind === 'note') parts.push(piece.bytes)
    else parts.push((await inflate(dataOf.get(piece.sequence) ?? '')).subarray(piece.from, piece.to))
  }
  return {
    state: isKnown ? stateOf(checkpoint) : null,
    bytes: Buffer.concat(parts),
    isFinal: log.is_ended,
    isFromMiddle: !isKnown && Number.isFinite(start) && start > 0,
  }
}

/** For a log that an older server has compacted. */
async function tailOfBlob(ctx: Context, key: string, size: number, bytes: number): Promise<Tail> {
  const start = Math.max(size - bytes, 0)
  return { state: null, bytes: await readPart(ctx, key, start, size), isFinal: true, isFromMiddle: start > 0 }
}
