import { hasFinishedAt } from '../build-state.ts'
import { stepStateOf } from '../outcome.ts'
import type { BuildRow, JobRow, StepRow } from '../rows.ts'
import type { Draft } from './draft.ts'
import type { BuildEventName, Effect, JobEventName } from './effects.ts'

/** The effects that follow from comparing rows as they were with rows as they are. */
export function collectEffects(draft: Draft): Effect[] {
  const groups = new Set<string>()
  const effects: Effect[] = []
  for (const { before, after } of draft.jobPairs()) {
    if (after !== null) effects.push(...jobEffects(before, after))
    const group = (after ?? before)?.concurrencyGroup ?? null
    if (group !== null && before?.state !== after?.state) groups.add(group)
  }
  for (const group of groups) effects.push({ kind: 'concurrency_changed', group })
  for (const { before, after } of draft.stepPairs()) {
    if (after !== null) effects.push(...stepEffects(before, after))
  }
  effects.push(...buildEffects(draft.buildBefore, draft.build))
  return effects
}

function jobEffects(before: JobRow | null, after: JobRow): Effect[] {
  const effects: Effect[] = []
  if (before?.promisedExitStatus !== after.promisedExitStatus && after.promisedExitStatus !== null) {
    effects.push({ kind: 'notify', event: 'job.promised_exit_status', jobId: after.id })
  }
  const from = before?.state ?? null
  if (from === after.state) {
    const hasChanged = before?.unblockable !== after.unblockable
    return hasChanged ? [...effects, { kind: 'job_unblockable_changed', jobId: after.id }] : effects
  }
  effects.push({ kind: 'job_state_changed', jobId: after.id, stepId: after.stepId, from, to: after.state })
  if (after.state === 'scheduled') effects.push({ kind: 'job_runnable', jobId: after.id })
  const event = jobEventName(before, after)
  if (event !== null) effects.push({ kind: 'notify', event, jobId: after.id })
  return effects
}

function jobEventName(before: JobRow | null, after: JobRow): JobEventName | null {
  if (after.kind === 'waiter') return null
  switch (after.state) {
    case 'scheduled':
      return (before?.runnableAt ?? null) === null ? 'job.scheduled' : null
    case 'running':
      return 'job.started'
    case 'unblocked':
      return 'job.activated'
    case 'passed':
    case 'failed':
    case 'timed_out':
    case 'canceled':
    case 'expired':
      return 'job.finished'
    case 'pending':
    case 'waiting':
    case 'blocked':
    case 'waiting_failed':
    case 'blocked_failed':
    case 'unblocked_failed':
    case 'broken':
    case 'limiting':
    case 'limited':
    case 'reserved':
    case 'assigned':
    case 'accepted':
    case 'timing_out':
    case 'canceling':
    case 'skipped':
      return null
  }
}

function stepEffects(before: StepRow | null, after: StepRow): Effect[] {
  if (after.kind === 'wait') return []
  const was = before === null ? null : stepStateOf(before)
  const is = stepStateOf(after)
  if (was === is) return []
  if (is === 'failing') return [{ kind: 'notify', event: 'step.failing', stepId: after.id }]
  const hasRun = after.notRun < after.total - after.broken
  const hasEnded = hasRun && (is === 'finished' || is === 'canceled')
  return hasEnded ? [{ kind: 'notify', event: 'step.finished', stepId: after.id }] : []
}

function buildEffects(before: BuildRow, after: BuildRow): Effect[] {
  if (before.state === after.state && before.blockedState === after.blockedState) return []
  const { blockedState } = after
  const effects: Effect[] = [
    { kind: 'build_state_changed', from: before.state, to: after.state, blockedState },
  ]
  for (const event of buildEventNames(before, after)) effects.push({ kind: 'notify', event })
  return effects
}

function buildEventNames(before: BuildRow, after: BuildRow): BuildEventName[] {
  if (after.state === 'skipped') return ['build.skipped']
  const events: BuildEventName[] = []
  if (before.state === 'creating') events.push('build.scheduled')
  if (after.state === 'running' && before.state !== 'failing') events.push('build.running')
  if (after.state === 'failing') events.push('build.failing')
  if (after.state === 'blocked') events.push('build.blocked')
  if (hasFinishedAt(after)) events.push('build.finished')
  return events
}
