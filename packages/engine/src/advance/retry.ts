// A retry is a new job in the old one's slot. Only the newest job of a slot counts anywhere.

import { MAX_JOBS_PER_BUILD } from '../plan.ts'
import type { JobRow, RetryType } from '../rows.ts'
import { isFinal } from '../states.ts'
import type { AutomaticRetry } from '../steps/types.ts'
import { loadJob } from './ask.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import type { Asking } from './needs.ts'
import { unreadyState } from './propagate.ts'
import { makeReady } from './ready.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'

export interface JobEnd {
  exitStatus: number
  signal: string | null
  signalReason: string | null
}

/**
 * The rule that may fire for such an end, or null. The first rule that matches decides alone: when it has no
 * tries left, later rules are not used.
 */
export function findRule(job: JobRow, end: JobEnd): number | null {
  const index = job.policy.retry.automatic.findIndex((rule) => matches(rule, end))
  const rule = job.policy.retry.automatic[index]
  if (rule === undefined) return null
  return (job.ruleUses[index] ?? 0) < rule.limit ? index : null
}

export function retryAutomatically(draft: Draft, job: JobRow, end: JobEnd): void {
  const index = findRule(job, end)
  if (index === null) return
  if (draft.build.jobs >= MAX_JOBS_PER_BUILD) {
    draft.moveJob(job.id, { reason: 'job_limit' })
    return
  }
  const ruleUses = job.ruleUses.map((uses, rule) => (rule === index ? uses + 1 : uses))
  replaceJob(draft, job, 'automatic', { ruleUses })
}

export function* retry(draft: Draft, event: EventOf<'retry'>): Asking<Refusal | null> {
  const job = yield* loadJob(draft, event.jobId)
  if (job === null) return refuse('not_found', 'No job found')
  const refusal = refuseRetry(draft, job, event.parentCanceled)
  if (refusal !== null) return refusal
  yield* reopen(draft)
  // A job that is retried while the build is failing must run.
  replaceJob(draft, job, 'manual', { failFast: false })
  return null
}

function refuseRetry(draft: Draft, job: JobRow, parentCanceled: boolean): Refusal | null {
  const { build } = draft
  if (build.cancelRequested || build.state === 'skipped') {
    return refuse('build_canceled', 'Jobs of a canceled build cannot be retried')
  }
  if (parentCanceled) return refuse('build_canceled', 'The build that triggered this one has been canceled')
  if (job.kind !== 'script' && job.kind !== 'trigger') {
    return refuse('wrong_kind', 'Only command and trigger jobs can be retried')
  }
  if (job.retriedInJobId !== null) return refuse('already_retried', 'The job has already been retried')
  const { manual } = job.policy.retry
  if (!manual.allowed) return refuse('retry_not_allowed', manual.reason ?? 'The step does not allow retries')
  if (!isRetryable(job, manual.permitOnPassed)) {
    return isFinal(job.state)
      ? refuse('retry_not_allowed', `A job that is ${job.state} cannot be retried`)
      : refuse('wrong_state', 'The job has not finished yet')
  }
  if (draft.step(job.stepId).phase === 'not_run') {
    return refuse('dependencies_unmet', 'A dependency of the step has failed')
  }
  if (build.jobs < MAX_JOBS_PER_BUILD) return null
  return refuse('job_limit', `A build has at most ${MAX_JOBS_PER_BUILD} jobs`)
}

function isRetryable(job: JobRow, permitOnPassed: boolean): boolean {
  if (job.state === 'passed') return permitOnPassed
  return ['failed', 'timed_out', 'canceled', 'expired'].includes(job.state)
}

/**
 * For a build that may have finished. Steps that could never start may be able to now: the retried job may upload the
 * key they wait for.
 */
export function* reopen(draft: Draft): Asking<void> {
  const { everStarted, startedAt, finishedAt, workedSeconds } = draft.build
  if (finishedAt === null) return
  const ranMs = startedAt === null ? 0 : Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt))
  draft.build = {
    ...draft.build,
    finishedAt: null,
    startedAt: everStarted ? draft.at : null,
    workedSeconds: workedSeconds + ranMs / 1000,
  }
  if (draft.build.impossible === 0) return
  draft.take(yield { kind: 'impossible_steps' })
  for (const step of draft.allSteps()) {
    if (!step.impossible) continue
    draft.setStep({ ...step, impossible: false })
    draft.touch(step.id)
    draft.build = { ...draft.build, impossible: draft.build.impossible - 1 }
  }
}

function replaceJob(draft: Draft, job: JobRow, type: RetryType, changes: Partial<JobRow>): void {
  const row = successorOf(draft, job, type, changes)
  draft.addJob({ row, work: { kind: 'copy', of: job.id } })
  draft.moveJob(job.id, { retriedInJobId: row.id, retryType: type })
  const step = draft.step(job.stepId)
  if (step.phase === 'ready') makeReady(draft, row)
  else draft.moveJob(row.id, { state: unreadyState(step, row) })
}

function successorOf(draft: Draft, job: JobRow, type: RetryType, changes: Partial<JobRow>): JobRow {
  return {
    ...job,
    id: draft.mint(),
    state: 'pending',
    softFailed: false,
    cutShort: false,
    reason: null,
    exitStatus: null,
    signal: null,
    signalReason: null,
    promisedExitStatus: null,
    promisedAt: null,
    promisedHard: false,
    retrySourceJobId: job.id,
    retrySourceType: type,
    retriesCount: job.retriesCount + 1,
    triggeredBuildId: null,
    createdAt: draft.at,
    runnableAt: null,
    startedAt: null,
    finishedAt: null,
    ...changes,
  }
}

function matches(rule: AutomaticRetry, end: JobEnd): boolean {
  const { exitStatus } = end
  const isStatus =
    rule.exitStatus === '*' ? exitStatus >= 1 && exitStatus <= 255 : rule.exitStatus.includes(exitStatus)
  return (
    isStatus && matchesWord(rule.signal, signalName(end)) && matchesWord(rule.signalReason, reasonOf(end))
  )
}

function matchesWord(words: '*' | readonly string[], word: string): boolean {
  return words === '*' || words.includes(word)
}

function signalName({ signal }: JobEnd): string {
  return signal === null ? 'NONE' : signal.toUpperCase().replace(/^SIG/, '')
}

function reasonOf({ signalReason }: JobEnd): string {
  return signalReason === null ? 'none' : signalReason
}
