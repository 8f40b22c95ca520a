// Replays the ends of logs that have no object of rows yet, for a thread.
import { chooseRows } from '../log/failing-line/excerpt.ts'
import { presentRows, type Excerpt, type ReadRow } from './excerpt.ts'
import { summarize } from '../log/rows/outline.ts'
import { Replay, type ReplayState } from '../log/rows/replay.ts'
import type { Row } from '../log/screen/row.ts'

export interface Tail {
  /** null: the bytes begin at the start of the log, or in its middle. */
  state: ReplayState | null
  bytes: Uint8Array
  /** The log does not grow any more. */
  isFinal: boolean
  /** The bytes begin in the middle, so row numbers are unknown and the first row is not whole. */
  isFromMiddle: boolean
}

export const readTails = ({ tails, mostRows }: { tails: readonly Tail[]; mostRows: number }): Excerpt[] =>
  tails.map((tail) => readTail(tail, mostRows))

function readTail({ state, bytes, isFinal, isFromMiddle }: Tail, mostRows: number): Excerpt {
  const before = state?.rows ?? 0
  const read: Row[] = []
  const replay = new Replay(state, (row) => read.push(row))
  replay.write(bytes, isFinal)
  read.push(...replay.open)
  const outline = replay.outlineAtEnd
  const { groups, failingRow } = summarize(outline.groups, outline.end)
  const total = before + read.length
  const first = before + (isFromMiddle && read.length > 1 ? 2 : 1)
  const choice = chooseRows({ groups, failingRow, first, total }, mostRows)
  const chosen = choice.ranges.flatMap(([from, to]): ReadRow[] =>
    read
      .slice(from - before - 1, to - before)
      .map((content, index) => ({ row: isFromMiddle ? null : from + index, content })),
  )
  return {
    group: choice.group,
    failing_row: isFromMiddle ? null : choice.failingRow,
    total_rows: isFromMiddle ? null : total,
    ...presentRows(chosen),
    leftOut: choice.leftOut,
  }
}
