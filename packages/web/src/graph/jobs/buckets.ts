// The seven groups in which lists and counts put jobs.
import type { Tone } from '../../parts/state-badge/states.ts'

/** In the order in which views list them. */
export const BUCKETS = ['failed', 'soft', 'blocked', 'running', 'waiting', 'passed', 'unrun'] as const
export type Bucket = (typeof BUCKETS)[number]
export type Counts = Record<Bucket, number>

export const BUCKET_TONES: Record<Bucket, Tone> = {
  failed: 'failed',
  soft: 'warn',
  blocked: 'blocked',
  running: 'running',
  waiting: 'idle',
  passed: 'passed',
  unrun: 'idle',
}

export const BUCKET_NAMES: Record<Bucket, string> = {
  failed: 'failed',
  soft: 'soft failed',
  blocked: 'blocked',
  running: 'running',
  waiting: 'waiting',
  passed: 'passed',
  unrun: 'not run',
}

const UNRUN = new Set([
  'waiting_failed',
  'blocked_failed',
  'unblocked_failed',
  'broken',
  'canceled',
  'skipped',
])
const STARTED = new Set(['assigned', 'accepted', 'running', 'timing_out', 'canceling'])

const BUCKET_OF_TONE: Record<Tone, Bucket> = {
  failed: 'failed',
  warn: 'soft',
  blocked: 'blocked',
  running: 'running',
  passed: 'passed',
  idle: 'waiting',
}

export function bucketOf(state: string, tone: Tone): Bucket {
  if (UNRUN.has(state)) return 'unrun'
  return STARTED.has(state) ? 'running' : BUCKET_OF_TONE[tone]
}

/** A value for each bucket. */
export const forBuckets = <T>(make: (bucket: Bucket) => T): Record<Bucket, T> =>
  Object.fromEntries(BUCKETS.map((bucket) => [bucket, make(bucket)])) as Record<Bucket, T>

/** `3 failed, 1 running`: the counts that are not 0, most important first. */
export function describeCounts(counts: Counts): string {
  return BUCKETS.filter((bucket) => counts[bucket] > 0)
    .map((bucket) => `${counts[bucket]} ${BUCKET_NAMES[bucket]}`)
    .join(', ')
}
