// Lines about the progress of a build, one for each important change.
import type { Store } from '@millrace/engine/memory/store.ts'
import type { JobRow } from '@millrace/engine/rows.ts'
import { nameOfJob } from './names.ts'
import { secondsOf } from './report.ts'

/** null: nothing worth a line. */
export function describeChange(store: Store, jobId: string): string | null {
  const job = store.jobs.get(jobId)
  if (job === undefined || job.kind === 'waiter') return null
  const name = nameOfJob(store, job)
  switch (job.state) {
    case 'running':
      return job.kind === 'script'
        ? `▸ ${name}${job.retriesCount > 0 ? `, try ${job.retriesCount + 1}` : ''}`
        : null
    case 'passed':
      return `✓ ${name} passed${timeOf(job)}`
    case 'unblocked':
      return `✓ ${name} was let through`
    case 'failed':
      return `✗ ${name} failed${howOf(job)}${timeOf(job)}${afterwards(job)}`
    case 'timed_out':
      return `✗ ${name} ran out of time${timeOf(job)}${afterwards(job)}`
    case 'canceled':
      return `✗ ${name} was canceled${timeOf(job)}`
    case 'broken':
      return `- ${name} is left out: ${reasonOf(job)}`
    case 'waiting_failed':
    case 'blocked_failed':
    case 'unblocked_failed':
      return `- ${name} does not run: something before it failed`
    case 'pending':
    case 'waiting':
    case 'blocked':
    case 'limiting':
    case 'limited':
    case 'scheduled':
    case 'reserved':
    case 'assigned':
    case 'accepted':
    case 'timing_out':
    case 'canceling':
    case 'expired':
    case 'skipped':
      return null
  }
}

function timeOf(job: JobRow): string {
  const seconds = job.kind === 'script' ? secondsOf(job) : null
  return seconds === null ? '' : ` after ${describeSeconds(seconds)}`
}

function howOf({ exitStatus, signal, reason }: JobRow): string {
  if (signal !== null) return ` by ${signal}`
  if (exitStatus === null) return reason === null ? '' : `: ${reason}`
  return exitStatus < 0 ? '' : ` with exit status ${exitStatus}`
}

function afterwards(job: JobRow): string {
  if (job.retriedInJobId !== null) return ', and is tried again'
  return job.softFailed ? ', which does not count' : ''
}

function reasonOf({ reason }: JobRow): string {
  if (reason === 'conditional_failed') return 'its condition is false'
  return reason === 'branch_mismatch' ? 'it is not for this branch' : (reason ?? 'skipped')
}

function describeSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}
