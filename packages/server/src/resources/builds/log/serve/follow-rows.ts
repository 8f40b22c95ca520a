// The rows of a growing log as server-sent events. Each event means: from this row on, the log is this. So programs that draw
// progress bars may change rows that were sent before. The id of an event is the first row that may still change.
import { Readable } from 'node:stream'
import type { Context } from '../../../../context.ts'
import type { Place } from '../../../../lib/threads.ts'
import { findCheckpointBefore } from '../rows/checkpoint-queries.ts'
import type { ReplayState } from '../rows/replay.ts'
import { findRows } from '../rows/find-rows.ts'
import type { FollowedRows, followSegment, Segment } from '../rows/row-tasks.ts'
import type { RowSource } from '../rows/row-source.ts'
import type { Position } from '../rules.ts'
import { screenHeight } from '../screen/screen.ts'
import { replaySegments, runRowTask } from '../rows/segments.ts'
import { deletedEvent, retryLine, pollLog } from './poll-log.ts'

const mostStepBytes = 64 * 1024
const mostEventRows = 1000
const mostEventCharacters = 256 * 1024

export const followRows = (
  ctx: Context,
  orgId: string,
  jobId: string,
  position: Position,
  place: Place,
): Readable => Readable.from(events(ctx, orgId, jobId, position, place), { objectMode: false })

async function* events(
  ctx: Context,
  orgId: string,
  jobId: string,
  position: Position,
  place: Place,
): AsyncGenerator<string> {
  yield retryLine
  const source = await findRows(ctx, orgId, jobId, place)
  if (source === null) return yield deletedEvent
  const { total } = await source.tail(1)
  const unsettled = position.isSettled ? 0 : screenHeight
  const from = Math.max(Math.min(position.row, total + 1) - unsettled, 1)
  if (source.log.compacted === null) yield* grow(ctx, orgId, jobId, from, place)
  else yield* sendStored(source, from)
}

async function* sendStored(source: RowSource, wanted: number): AsyncGenerator<string> {
  for (let from = wanted; ;) {
    const { rows, total } = await source.page(from, mostEventRows)
    if (rows.length > 0) yield* rowEvents({ from, rows }, from + rows.length)
    from += rows.length
    if (from > total) return yield endEvent(total)
  }
}

async function* grow(
  ctx: Context,
  orgId: string,
  jobId: string,
  from: number,
  place: Place,
): AsyncGenerator<string> {
  let state: ReplayState | null = await findCheckpointBefore(ctx.db, orgId, jobId, from)
  let open: readonly string[] = []
  let total = 0
  let knownSize = -1
  const follow = (segment: Segment) =>
    runRowTask<typeof followSegment>(place, 'followSegment', { segment, open })
  yield* pollLog(ctx, orgId, jobId, {
    offset: () => state?.offset ?? 0,
    async *newEvents(log) {
      if (!log.isFinal && log.size === knownSize) return
      knownSize = log.size
      for await (const step of replaySegments(log, state, follow, mostStepBytes)) {
        ;({ state, open, total } = step)
        yield* changeEvents(step, from)
      }
    },
    endEvent: () => endEvent(total),
  })
}

/** Rows before `from` are known to the reader. */
function* changeEvents({ changed, state }: FollowedRows, from: number): Generator<string> {
  if (changed === null) return
  const skipped = Math.max(from - changed.from, 0)
  const rows = changed.rows.slice(skipped)
  if (rows.length > 0 || skipped === 0)
    yield* rowEvents({ from: changed.from + skipped, rows }, state.rows + 1)
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
