import { isSoft } from '../outcome.ts'
import type { JobRow } from '../rows.ts'
import type { Draft } from './draft.ts'
import { retryAutomatically } from './retry.ts'
import type { JobEnd } from './retry.ts'

/** Ends a job that an agent was running, and retries it if a rule says so. */
export function endJob(draft: Draft, job: JobRow, reported: JobEnd): void {
  if (job.state === 'canceling') {
    const softFailed = isSoft(job.policy.softFail, reported.exitStatus)
    draft.moveJob(job.id, { ...reported, state: 'canceled', softFailed })
    return
  }
  const end = keepPromise(job, reported)
  const state = endState(job, end)
  const softFailed = state !== 'passed' && isSoft(job.policy.softFail, end.exitStatus)
  const ended = draft.moveJob(job.id, { ...end, state, softFailed })
  if (state !== 'passed' && !draft.build.cancelRequested) retryAutomatically(draft, ended, end)
}

function endState(job: JobRow, end: JobEnd): 'passed' | 'failed' | 'timed_out' {
  if (end.exitStatus === 0) return 'passed'
  return job.state === 'timing_out' ? 'timed_out' : 'failed'
}

// Others have acted on the promise already, so a better end comes too late.
function keepPromise(job: JobRow, end: JobEnd): JobEnd {
  if (job.promisedExitStatus === null) return end
  const isBroken = end.exitStatus === 0 || isSoft(job.policy.softFail, end.exitStatus)
  return isBroken ? { ...end, exitStatus: job.promisedExitStatus } : end
}
