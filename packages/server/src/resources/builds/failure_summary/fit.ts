// Makes a summary small enough. Everything shrinks by one factor, rows of logs and long texts first, so that the most failures
// stay visible.
import { chooseRows } from '../log/failing-line/excerpt.ts'
import { cutText } from '../log/screen/plain-text.ts'
import type { Summary, SummarizedJob } from './schema.ts'

/** Counts of what the limits of statements and of logs have left out already. */
interface LeftOut {
  jobs: number
  rows: number
  annotations: number
  tests: number
  waiting: number
  texts: number
}

interface Limits {
  maxBytes: number
  /** For `truncated.reason`. */
  reason: string
}

/** `full` is the whole summary, as if there were no limit of bytes. */
export function fit(
  full: Omit<Summary, 'truncated'>,
  leftOut: LeftOut,
  { maxBytes, reason }: Limits,
): string {
  const at = (share: number) => toJson(full, leftOut, share, reason)
  const whole = at(1)
  if (Buffer.byteLength(whole) <= maxBytes) return whole
  let best = at(0)
  if (Buffer.byteLength(best) > maxBytes) throw new Error('An empty failure summary is too large.')
  let [low, high] = [0, 1]
  for (let round = 0; round < 7; round++) {
    const share = (low + high) / 2
    const candidate = at(share)
    if (Buffer.byteLength(candidate) > maxBytes) high = share
    else [low, best] = [share, candidate]
  }
  return best
}

const mostRows = 50
const leastText = 200
const longest = { annotation: 4000, details: 2000, reason: 1000, command: 300 }

/** `share` from 0 to 1. Entries go only below a third, when texts are short already. */
function toJson(full: Omit<Summary, 'truncated'>, leftOut: LeftOut, share: number, reason: string): string {
  const left = { ...leftOut }
  const shorten = <Text extends string | null>(text: Text, most: number): Text | string => {
    const allowed = Math.max(leastText, Math.floor(most * share))
    if (share === 1 || text === null || text.length <= allowed) return text
    left.texts++
    return cutText(text, allowed)
  }
  const some = <Entry>(entries: readonly Entry[]) =>
    entries.slice(0, Math.ceil(entries.length * Math.min(1, share * 3)))
  const jobs = some(full.jobs).map((job) => {
    const rows = fewerRows(job.log, Math.floor(mostRows * share))
    left.rows += job.log.rows.length - rows.length
    return { ...job, command: shorten(job.command, longest.command), log: { ...job.log, rows } }
  })
  const annotations = some(full.annotations).map((annotation) => ({
    ...annotation,
    text: shorten(annotation.text, longest.annotation),
  }))
  const tests = some(full.tests).map((test) => ({
    ...test,
    failure_reason: shorten(test.failure_reason, longest.reason),
    details: shorten(test.details, longest.details),
  }))
  const waiting = some(full.waiting)
  left.jobs += full.jobs.length - jobs.length
  left.annotations += full.annotations.length - annotations.length
  left.tests += full.tests.length - tests.length
  left.waiting += full.waiting.slice(waiting.length).reduce((sum, entry) => sum + entry.jobs, 0)
  const isWhole = Object.values(left).every((count) => count === 0)
  const truncated = isWhole ? null : { ...left, reason }
  return JSON.stringify({ ...full, jobs, annotations, tests, waiting, truncated } satisfies Summary)
}

function fewerRows({ rows, failing_row }: SummarizedJob['log'], most: number): SummarizedJob['log']['rows'] {
  if (rows.length <= most) return rows
  if (most === 0) return []
  const failing = rows.findIndex(({ row }) => row !== null && row === failing_row) + 1
  const known = { groups: [], failingRow: failing === 0 ? null : failing, first: 1, total: rows.length }
  return chooseRows(known, most).ranges.flatMap(([from, to]) => rows.slice(from - 1, to))
}
