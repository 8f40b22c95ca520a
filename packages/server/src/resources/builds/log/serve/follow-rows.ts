// The rows of a growing log as server-sent events. Each event means: from this row on, the log is this. So programs that draw
// progress bars may change rows that were sent before. The id of an event is the first row that may still change.
import { Readable } from 'node:stream'
import { takePlace, type WorkOwner } from '../../../../lib/threads.ts'
import { findRows } from '../rows/find-rows.ts'
import type { RowSource } from '../rows/row-source.ts'
import type { Position } from '../rules.ts'
import { screenHeight } from '../screen/screen.ts'
import { aliveLine, deletedEvent, Feeds, retryLine, type Feed, type FollowedLog } from './feed.ts'
import { RowEnd, type Sent } from './row-end.ts'

const mostEventRows = 1000
const mostEventCharacters = 256 * 1024

type StreamWork = WorkOwner & { until: AbortSignal }

const feeds = new Feeds((log) => new RowEnd(log))

/** `work` is for rows before those that the feed holds. */
export const followRows = (log: FollowedLog, position: Position, work: StreamWork): Readable =>
  Readable.from(events(log, position, work), { objectMode: false })

async function* events(log: FollowedLog, position: Position, work: StreamWork): AsyncGenerator<string> {
  const { ctx, orgId, jobId } = log
  yield retryLine
  const place = takePlace(work)
  const source = await findRows(ctx, orgId, jobId, place)
  if (source === null) return yield deletedEvent
  if (source.log.compacted === null) {
    place.leave()
    return yield* grow(feeds.join(log, work.until), log, position, work)
  }
  const total = await countRows(source)
  yield* sendRows(source, firstRow(position, total), Infinity)
  yield endEvent(total)
}

const countRows = async (source: RowSource) => (await source.tail(1)).total

/** A reader that says nothing of settled rows may have old ones. */
const firstRow = ({ row, isSettled }: Position, total: number): number =>
  Math.max(Math.min(row, total + 1) - (isSettled ? 0 : screenHeight), 1)

/** Settled rows up to, not including, `to`. Returns the first one that was not sent. */
async function* sendRows(source: RowSource, from: number, to: number): AsyncGenerator<string, number> {
  for (let next = from; ;) {
    const { rows, total } = await source.page(next, Math.min(mostEventRows, to - next))
    if (rows.length > 0) yield* rowEvents({ from: next, rows }, next + rows.length)
    next += rows.length
    if (next > total || next >= to || rows.length === 0) return next
  }
}

async function* grow(
  feed: Feed<RowEnd>,
  { ctx, orgId, jobId }: FollowedLog,
  position: Position,
  work: StreamWork,
): AsyncGenerator<string> {
  let { outcome, end, changed } = feed.look()
  for (; end.offset === null && outcome === null; { outcome, end, changed } = feed.look()) {
    if (!(await changed())) yield aliveLine
  }
  const first = firstRow(position, end.total)
  let next = first
  /** null: the rows from `next` on were not sent. */
  let sent: Sent | null = null
  for (; !work.until.aborted; { outcome, end, changed } = feed.look()) {
    if (outcome === 'deleted') return yield deletedEvent
    const changedFrom = sent === null ? next : end.changedSince(sent)
    if (changedFrom === null) {
      if (outcome === 'final') return yield endEvent(end.total)
      if (!(await changed())) yield aliveLine
      continue
    }
    const from = Math.max(changedFrom, first)
    if (from < end.start) {
      const place = takePlace(work)
      const source = await findRows(ctx, orgId, jobId, place)
      if (source === null) return yield deletedEvent
      next = yield* sendRows(source, from, end.start)
      sent = null
      place.leave()
      continue
    }
    const rows = end.rowsFrom(from)
    const hasFewer: boolean = sent !== null && changedFrom >= first
    ;({ sent } = end)
    if (rows.length > 0 || hasFewer) yield* rowEvents({ from, rows }, sent.firstOpen)
  }
}

/** `firstOpen` is the first row that may still change. */
function* rowEvents(
  { from, rows }: { from: number; rows: readonly string[] },
  firstOpen: number,
): Generator<string> {
  let start = 0
  do {
    let end = start
    let characters = 0
    while (end < rows.length && end - start < mostEventRows && characters < mostEventCharacters)
      characters += rows[end++]?.length ?? 0
    const id = Math.min(firstOpen, from + end)
    const part = rows.slice(start, end).join(',')
    yield `id: ${id}\nevent: rows\ndata: {"from":${from + start},"rows":[${part}]}\n\n`
    start = end
  } while (start < rows.length)
}

const endEvent = (total: number) => `id: ${total + 1}\nevent: end\ndata: {"rows":${total}}\n\n`
