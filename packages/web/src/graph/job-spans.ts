// The parts of a job's life as the waterfall shows them.
import type { Job } from './job.ts'

export type SpanKind = 'waiting' | 'starting' | 'running'

export interface Span {
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
  add('starting', job.runnableMs, job.startedMs ?? job.finishedMs)
  add('running', job.startedMs, job.finishedMs)
  return spans
}

export interface Extent {
  startMs: number
  endMs: number
  /** A job goes on, so the end is now. */
  isLive: boolean
}

export function extentOf(jobs: readonly Job[], nowMs: number): Extent {
  let [startMs, endMs, isLive] = [Infinity, -Infinity, false]
  for (const job of jobs) {
    if (isOpen(job)) isLive = true
    for (const time of [job.createdMs, job.runnableMs, job.startedMs, job.finishedMs]) {
      if (time === null) continue
      startMs = Math.min(startMs, time)
      endMs = Math.max(endMs, time)
    }
  }
  if (startMs === Infinity) return { startMs: nowMs, endMs: nowMs + 1000, isLive }
  // The clock of this machine may be behind the server's.
  return { startMs, endMs: Math.max(endMs, startMs + 1000, isLive ? nowMs : 0), isLive }
}

/** Jobs in the order in which they began to matter. */
export function sortByStart(jobs: readonly Job[]): readonly Job[] {
  const key = (job: Job) => job.startedMs ?? job.runnableMs ?? Infinity
  return jobs.toSorted((a, b) => key(a) - key(b) || 0)
}
