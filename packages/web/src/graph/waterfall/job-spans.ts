// The parts of a job's life as the waterfall shows them.
import type { Job } from '../jobs/job.ts'

export type SpanKind = 'waiting' | 'queued' | 'running'

interface Span {
  kind: SpanKind
  fromMs: number
  /** null: it goes on. */
  toMs: number | null
}

const isOpen = ({ bucket }: Job) => bucket === 'waiting' || bucket === 'running' || bucket === 'blocked'

export function spansOf(job: Job): Span[] {
  const spans: Span[] = []
  const add = (kind: SpanKind, fromMs: number | null, toMs: number | null) => {
    if (fromMs === null || (toMs === null && !isOpen(job))) return
    if (toMs === null || toMs > fromMs) spans.push({ kind, fromMs, toMs })
  }
  add('waiting', job.createdMs, job.runnableMs ?? job.startedMs ?? job.finishedMs)
  add('queued', job.runnableMs, job.startedMs ?? job.finishedMs)
  add('running', job.startedMs, job.finishedMs)
  return spans
}

interface Extent {
  startMs: number
  endMs: number
  /** A job goes on, so the end is now. */
  isLive: boolean
}

export function extentOf(jobs: readonly Job[], nowMs: number): Extent {
  let startMs = Infinity
  let endMs = -Infinity
  let isLive = false
  const take = (timeMs: number | null) => {
    if (timeMs === null) return
    if (timeMs < startMs) startMs = timeMs
    if (timeMs > endMs) endMs = timeMs
  }
  for (const job of jobs) {
    isLive ||= isOpen(job)
    take(job.createdMs)
    take(job.runnableMs)
    take(job.startedMs)
    take(job.finishedMs)
  }
  if (startMs === Infinity) return { startMs: nowMs, endMs: nowMs + 1000, isLive }
  if (!isLive) return { startMs, endMs: Math.max(endMs, startMs + 1000), isLive }
  // The clock of this machine may be behind the server's. Whole seconds keep the length from changing with every job.
  const seconds = Math.ceil((Math.max(endMs, nowMs) - startMs) / 1000)
  return { startMs, endMs: startMs + Math.max(1, seconds) * 1000, isLive }
}

/** Jobs in the order in which they began to matter. */
export function sortByStart(jobs: readonly Job[]): readonly Job[] {
  const key = (job: Job) => job.startedMs ?? job.runnableMs ?? Infinity
  return jobs.toSorted((a, b) => key(a) - key(b) || 0)
}
