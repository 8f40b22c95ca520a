// The object with the rows of a finished log: blocks of rows, then the table of the blocks, then the outline.
//
//   block     gzip of rows as JSON, one a line; at most 512 rows
//   table     for each block two 64-bit floating point numbers: where it begins, and the number of its first row
//   outline   gzip of JSON: groups, failing row, times
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { announce, claim, release } from '../../../../blobs/unclaimed.ts'
import type { Context } from '../../../../context.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import { Semaphore } from '../../../../lib/semaphore.ts'
import { SizedCache } from '../../../../lib/sized-cache.ts'
import { withPlace, type Place } from '../../../../lib/threads.ts'
import { Sketch } from '../findings/sketch.ts'
import { TellingLines, type Findings } from '../findings/telling-lines.ts'
import { Outline, summarize, type Group, type LogOutline } from './outline.ts'
import * as logs from '../queries.ts'
import type { StoredRows } from '../queries.ts'
import type { makeBlocks } from './row-tasks.ts'
import { replaySegments, runRowTask } from './segments.ts'
import { findLog, type Log } from '../source.ts'

const inflate = promisify(gunzip)
const deflate = promisify(gzip)

/** A larger object is made twice, first to learn its size, which the store needs in advance. */
const mostHeldBytes = 8 * 1024 * 1024

/** What is learned of a log while its rows are made. */
export interface WrittenRows {
  stored: StoredRows
  sketch: Uint8Array
  /** null: the job has not failed, or the log says nothing. */
  findings: Findings | null
}

/** Stores the object under a new key that nothing refers to yet. */
export const writeRows = (ctx: Context, orgId: string, jobId: string, log: Log): Promise<WrittenRows> =>
  withPlace({ kind: 'background', organizationId: orgId, sender: jobId, until: null }, (place) =>
    writeAll(ctx, orgId, jobId, log, place),
  )

async function writeAll(
  ctx: Context,
  orgId: string,
  jobId: string,
  log: Log,
  place: Place,
): Promise<WrittenRows> {
  const key = `logs/${orgId}/${jobId}/${randomUUID()}`
  const making = makeObject(log, place)
  let held: Buffer[] | null = []
  let size = 0
  let step = await making.next()
  for (; step.done !== true; step = await making.next()) {
    size += step.value.length
    held?.push(step.value)
    if (size > mostHeldBytes) held = null
  }
  await announce(ctx.db, key)
  await ctx.blobs.put(key, Readable.from(held ?? makeObject(log, place), { objectMode: false }), size)
  const { layout, sketch, findings } = step.value
  return { stored: { key, layout }, sketch, findings }
}

interface MadeObject extends Pick<WrittenRows, 'sketch' | 'findings'> {
  layout: logs.RowsLayout
}

async function* makeObject(log: Log, place: Place): AsyncGenerator<Buffer, MadeObject> {
  const table: number[] = []
  const groups: Group[] = []
  let size = 0
  let rows = 0
  let end = new Outline().end
  const sketch = new Sketch()
  const telling = log.hasFailed ? new TellingLines() : null
  const segments = replaySegments(log, null, (segment) =>
    runRowTask<typeof makeBlocks>(place, 'makeBlocks', {
      segment,
      telling: telling === null ? null : { isOpen: telling.isOpen },
    }),
  )
  for await (const made of segments) {
    for (const [index, number] of made.table.entries()) table.push(index % 2 === 0 ? size + number : number)
    groups.push(...made.groups)
    sketch.merge(made.sketch)
    if (made.telling !== null) telling?.add(made.telling)
    size += made.bytes.length
    if (made.bytes.length > 0) yield Buffer.from(made.bytes.buffer, made.bytes.byteOffset, made.bytes.length)
    ;({ rows, outline: end } = made)
  }
  const tableBytes = Buffer.from(new Float64Array(table).buffer)
  const outlineBytes = await deflate(JSON.stringify(summarize(groups, end)))
  if (tableBytes.length > 0) yield tableBytes
  yield outlineBytes
  const outlineAt = size + tableBytes.length
  return {
    layout: { rows, table_at: size, outline_at: outlineAt, size: outlineAt + outlineBytes.length },
    sketch: sketch.smallest,
    findings: telling?.findings(end.failingRow) ?? null,
  }
}

const building = new Map<string, Promise<StoredRows | null>>()
const builders = new Semaphore(1)

/** For a log that an older server has compacted. null: the log was deleted meanwhile. */
export function makeRowsOnce(
  ctx: Context,
  orgId: string,
  jobId: string,
  log: Log,
): Promise<StoredRows | null> {
  const running = building.get(jobId)
  if (running !== undefined) return running
  const made = builders.run(() => storeNewRows(ctx, orgId, jobId, log))
  building.set(jobId, made)
  return made.finally(() => building.delete(jobId))
}

async function storeNewRows(
  ctx: Context,
  orgId: string,
  jobId: string,
  log: Log,
): Promise<StoredRows | null> {
  const { stored: rows, sketch } = await writeRows(ctx, orgId, jobId, log)
  const isStored = await inTransaction(ctx.db, async (trx) => {
    if (!(await logs.storeRows(trx, orgId, jobId, { ...rows, sketch }))) return false
    if (!(await claim(trx, rows.key)))
      throw new Error('The object took longer to write than unclaimed objects are kept.')
    return true
  })
  if (isStored) return rows
  await release(ctx.db, [rows.key])
  return (await findLog(ctx, orgId, jobId))?.compacted?.rows ?? null
}

/** The blocks of an object: `[offset, first row]` for each. */
type Table = Float64Array

const tables = new SizedCache<string, Table>(32 * 1024 * 1024)

export async function readTable(ctx: Context, { key, layout }: StoredRows): Promise<Table> {
  const known = tables.get(key)
  if (known !== undefined) return known
  const bytes = await readPart(ctx, key, layout.table_at, layout.outline_at)
  const table = new Float64Array(bytes.length / 8)
  Buffer.from(table.buffer).set(bytes)
  tables.set(key, table, bytes.length)
  return table
}

/** Throws a RangeError if it is larger. */
export async function readOutline(
  ctx: Context,
  { key, layout }: StoredRows,
  mostBytes?: number,
): Promise<LogOutline> {
  const bytes = await readPart(ctx, key, layout.outline_at, layout.size)
  return JSON.parse((await inflate(bytes, { maxOutputLength: mostBytes })).toString()) as LogOutline
}

const countBlocks = (table: Table): number => table.length / 2

/** The index of the block that contains the row. */
export function findBlock(table: Table, row: number): number {
  let [low, high] = [0, countBlocks(table) - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((table[2 * middle + 1] ?? 0) <= row) low = middle
    else high = middle - 1
  }
  return low
}

export interface Block {
  firstRow: number
  gzip: Uint8Array
}

/** The blocks from index `first` to index `last`. */
export async function readBlocks(
  ctx: Context,
  { key, layout }: StoredRows,
  table: Table,
  first: number,
  last: number,
): Promise<Block[]> {
  const offsetOf = (index: number) => table[2 * index] ?? layout.table_at
  const start = offsetOf(first)
  const bytes = await readPart(ctx, key, start, offsetOf(last + 1))
  return Array.from({ length: last - first + 1 }, (_, at) => ({
    firstRow: table[2 * (first + at) + 1] ?? layout.rows + 1,
    gzip: bytes.subarray(offsetOf(first + at) - start, offsetOf(first + at + 1) - start),
  }))
}

const mostBatchBytes = 512 * 1024
const mostBatchBlocks = 256

/** All blocks, several at a time. */
export async function* readAllBlocks(ctx: Context, stored: StoredRows): AsyncGenerator<Block[]> {
  const table = await readTable(ctx, stored)
  for (let first = 0; first < countBlocks(table);) {
    const start = table[2 * first] ?? 0
    let last = first
    while (
      last + 1 < countBlocks(table) &&
      last + 1 - first < mostBatchBlocks &&
      (table[2 * last + 2] ?? 0) - start < mostBatchBytes
    )
      last++
    yield await readBlocks(ctx, stored, table, first, last)
    first = last + 1
  }
}

/** The rows of a block as JSON. Throws a RangeError if they are larger. */
export const inflateRows = async ({ gzip }: Block, mostBytes?: number): Promise<string[]> =>
  (await inflate(gzip, { maxOutputLength: mostBytes })).toString().split('\n')

/** Bytes `start` to `end` (exclusive) of the object. */
export async function readPart(ctx: Context, key: string, start: number, end: number): Promise<Buffer> {
  if (start === end) return Buffer.alloc(0)
  const stream = await ctx.blobs.get(key, { start, end: end - 1 })
  if (stream === null) throw new Error(`The object ${key} with the rows of a log is not in the store.`)
  const pieces: Buffer[] = []
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece)
  return Buffer.concat(pieces)
}
