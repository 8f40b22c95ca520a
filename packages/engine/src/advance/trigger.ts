// How a trigger job follows the build it created.

import { isSoft } from '../outcome.ts'
import type { JobRow } from '../rows.ts'
import { isFinal } from '../states.ts'
import type { BuildState } from '../states.ts'
import { loadJob } from './ask.ts'
import { cancelChild } from './cancel.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import type { Asking } from './needs.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import { reopen } from './retry.ts'

/** A child that appears after its trigger job was canceled is canceled as well. */
export function* childCreated(draft: Draft, event: EventOf<'child_created'>): Asking<Refusal | null> {
  const job = yield* loadTrigger(draft, event.jobId)
  if ('ok' in job) return job
  if (job.triggeredBuildId !== null) return refuse('wrong_state', 'The job already has a child build')
  const linked = draft.moveJob(job.id, { triggeredBuildId: event.buildId })
  if (isFinal(linked.state)) cancelChild(draft, linked)
  else if (job.policy.async) draft.moveJob(job.id, { state: 'passed' })
  return null
}

export function* childRefused(draft: Draft, event: EventOf<'child_refused'>): Asking<Refusal | null> {
  const job = yield* loadTrigger(draft, event.jobId)
  if ('ok' in job) return job
  if (isFinal(job.state)) return refuse('job_finished', 'The job has already finished')
  fail(draft, job, event.message)
  return null
}

export function* childChanged(draft: Draft, event: EventOf<'child_changed'>): Asking<Refusal | null> {
  const job = yield* loadTrigger(draft, event.jobId)
  if ('ok' in job) return job
  if (mayWaitAgain(draft, job) && isUnderWay(event.state)) {
    yield* reopen(draft)
    draft.moveJob(job.id, { state: 'running', softFailed: false })
    return null
  }
  if (isFinal(job.state)) return refuse('job_finished', 'The job has already finished')
  switch (event.state) {
    case 'passed':
    case 'not_run':
      draft.moveJob(job.id, { state: 'passed' })
      break
    case 'blocked':
      if (event.blockedState === 'passed') draft.moveJob(job.id, { state: 'passed' })
      break
    case 'failed':
      fail(draft, job, null)
      break
    case 'skipped':
      draft.moveJob(job.id, { state: 'skipped' })
      break
    case 'canceled':
      if (event.isSuperseded) draft.moveJob(job.id, { state: 'skipped' })
      else draft.moveJob(job.id, { state: 'canceled', softFailed: isSoftTrigger(job) })
      break
    case 'creating':
    case 'scheduled':
    case 'running':
    case 'failing':
    case 'canceling':
      break
  }
  return null
}

// Only a failed job can wait again. Steps behind a passed job have run, and a blocked child continues by itself.
function mayWaitAgain({ build }: Draft, job: JobRow): boolean {
  const isOpen = !build.cancelRequested && build.state !== 'skipped'
  return isOpen && job.state === 'failed' && job.triggeredBuildId !== null && job.retriedInJobId === null
}

function isUnderWay(child: BuildState): boolean {
  return child === 'scheduled' || child === 'running' || child === 'failing'
}

function fail(draft: Draft, job: JobRow, reason: string | null): void {
  draft.moveJob(job.id, { state: 'failed', softFailed: isSoftTrigger(job), reason })
}

// A child build has no exit status; its failure counts as 1.
function isSoftTrigger(job: JobRow): boolean {
  return isSoft(job.policy.softFail, 1)
}

function* loadTrigger(draft: Draft, jobId: string): Asking<JobRow | Refusal> {
  const job = yield* loadJob(draft, jobId)
  if (job === null) return refuse('not_found', 'No job found')
  if (job.kind !== 'trigger') return refuse('wrong_kind', 'Only a trigger job has a child build')
  const hasBegun = job.state === 'running' || isFinal(job.state)
  return hasBegun ? job : refuse('wrong_state', 'The job has not asked for a child build yet')
}
