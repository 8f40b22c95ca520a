// The newest jobs of a build by what they mean for the reader.
import { forBuckets, type Bucket, type Counts } from './buckets.ts'
import type { Job } from './job.ts'

export interface JobGroups {
  jobs: Readonly<Record<Bucket, readonly Job[]>>
  counts: Counts
  total: number
}

/** Failures stand in the order in which they happened, so that a new one moves none. All others keep their order. */
export function groupJobs(newest: readonly Job[]): JobGroups {
  const jobs = forBuckets((): Job[] => [])
  for (const job of newest) jobs[job.bucket].push(job)
  jobs.failed.sort(byEnd)
  jobs.soft.sort(byEnd)
  const counts = forBuckets((bucket) => jobs[bucket].length)
  return { jobs, counts, total: newest.length }
}

const byEnd = (a: Job, b: Job) => (a.finishedMs ?? Infinity) - (b.finishedMs ?? Infinity) || 0

/** The failure after `current`, or before it with `step` -1. It wraps. */
export function nextFailure(
  failures: readonly Job[],
  current: string | null,
  step: 1 | -1,
): { job: Job; position: number; total: number } | null {
  const total = failures.length
  if (total === 0) return null
  const at = failures.findIndex(({ id }) => id === current)
  const next = at === -1 ? (step === 1 ? 0 : total - 1) : (at + step + total) % total
  const job = failures[next]
  return job === undefined ? null : { job, position: next + 1, total }
}
