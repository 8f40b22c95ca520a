// The index of a log, as readers see it.
import type { Static } from 'typebox'
import type { LogOutline } from '../rows/outline.ts'
import { rowsAround } from '../failing-line/excerpt.ts'
import { nanoseconds } from '../header-times.ts'
import type { LogIndex } from '../schema.ts'
import type { Log } from '../source.ts'

/** As many as fit a terminal. */
const excerptRows = 24

export function indexJson(log: Log, total: number, outline: LogOutline): Static<typeof LogIndex> {
  const { groups, failingRow, firstTime, lastTime } = outline
  const times = groups.map(({ time }, index) => reportedTime(log.headerTimes[index]) ?? time)
  const end = log.isFinal ? latest(log.endedAt, lastTime) : null
  return {
    rows: total,
    size: log.size,
    is_final: log.isFinal,
    groups: groups.map(({ kind, name, row }, index) => {
      const time = times[index] ?? null
      return { kind, name, row, time, duration_ms: between(time, nextTime(times, index) ?? end) }
    }),
    failing_row: log.hasFailed ? failingRow : null,
    excerpt:
      log.hasFailed && failingRow !== null
        ? rowsAround({ groups, failingRow, first: 1, total }, excerptRows)
        : null,
    first_time: firstTime ?? times[0] ?? null,
  }
}

function reportedTime(text: string | undefined): number | null {
  const exact = nanoseconds(text)
  return exact === null ? null : Number(exact.slice(0, -6))
}

/** undefined: it is the last group. */
const nextTime = (times: ReadonlyArray<number | null>, index: number) => times[index + 1]

const latest = (...times: Array<number | null>) =>
  times.reduce((a, b) => (a === null || (b ?? a) > a ? b : a), null)

/** Clocks may be set back. */
const between = (start: number | null, end: number | null) =>
  start === null || end === null ? null : Math.max(end - start, 0)
