import { isSoft } from '../outcome.ts'
import type { JobRow } from '../rows.ts'
import { isFinal, isFinalBuild, isStopping } from '../states.ts'
import { loadJob, loadJobsOf, loadSteps } from './ask.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import type { Asking } from './needs.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'

/** Ends an unfinished job, or asks its agent to. */
export function stopJob(draft: Draft, job: JobRow, how: { cutShort: boolean }): void {
  if (job.kind === 'script' && (job.state === 'accepted' || job.state === 'running')) {
    draft.moveJob(job.id, { state: 'canceling', ...how })
    draft.effects.push({ kind: 'cancel_on_agent', jobId: job.id, cause: 'canceled' })
    return
  }
  const softFailed = isSoft(job.policy.softFail, null)
  draft.moveJob(job.id, { state: 'canceled', softFailed, unblockable: false, ...how })
  cancelChild(draft, job)
}

export function isStoppable(job: JobRow): boolean {
  return !isFinal(job.state) && !isStopping(job.state)
}

export function cancelChild(draft: Draft, job: JobRow): void {
  if (job.kind !== 'trigger' || job.policy.async || job.triggeredBuildId === null) return
  draft.effects.push({ kind: 'cancel_child_build', jobId: job.id, buildId: job.triggeredBuildId })
}

export function* cancelJob(draft: Draft, event: EventOf<'cancel_job'>): Asking<Refusal | null> {
  const job = yield* loadJob(draft, event.jobId)
  if (job === null) return refuse('not_found', 'No job found')
  if (isFinal(job.state)) return refuse('job_finished', 'The job has already finished')
  if (isStopping(job.state)) return refuse('wrong_state', 'The job is already being stopped')
  stopJob(draft, job, { cutShort: false })
  return null
}

export function* cancelStep(draft: Draft, event: EventOf<'cancel_step'>): Asking<Refusal | null> {
  yield* loadSteps(draft, [event.stepId])
  if (draft.findStep(event.stepId) === null) return refuse('not_found', 'No step found')
  yield* loadJobsOf(draft, [event.stepId])
  for (const job of draft.jobsOf(event.stepId)) if (isStoppable(job)) stopJob(draft, job, { cutShort: false })
  return null
}

export function* cancelBuild(draft: Draft, event: EventOf<'cancel_build'>): Asking<Refusal | null> {
  const { build } = draft
  if (isFinalBuild(build.state)) return refuse('build_finished', `The build is already ${build.state}`)
  if (build.cancelRequested) return refuse('build_canceled', 'The build is already being canceled')
  draft.build = { ...build, cancelRequested: true, cancelReason: event.reason }
  draft.take(yield { kind: 'unfinished_jobs', only: 'all' })
  for (const job of draft.newestJobs()) if (isStoppable(job)) stopJob(draft, job, { cutShort: false })
  return null
}

/** A newer build has taken this one's place before anything started. */
export function* skipBuild(draft: Draft): Asking<Refusal | null> {
  const { state } = draft.build
  if (state !== 'creating' && state !== 'scheduled') {
    return refuse('wrong_state', 'Only a build that has not started can be skipped')
  }
  draft.build = { ...draft.build, state: 'skipped' }
  draft.take(yield { kind: 'unfinished_jobs', only: 'all' })
  for (const job of draft.newestJobs()) {
    if (!isStoppable(job)) continue
    draft.moveJob(job.id, { state: 'skipped', unblockable: false })
    if (job.state === 'accepted') {
      draft.effects.push({ kind: 'cancel_on_agent', jobId: job.id, cause: 'canceled' })
    }
  }
  return null
}
