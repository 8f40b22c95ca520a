// A build, job or step as it was at the time of an event. It is rendered a moment later and may have changed since.
import {
  isFinal,
  isFinalBuild,
  shownBuildState,
  shownJobState,
  type BuildState,
  type JobState,
} from '@millrace/engine/states.ts'
import type { OutboxEvent } from './cursor.ts'
import type { Message, Shown, StepSnapshot } from '../messages/message.ts'

/** The state is that of the event, and times after the event are removed. */
export function buildAsOf(build: Shown, { kind, data, created_at: at }: OutboxEvent): Shown {
  const earlier = withoutLater(build, ['started_at', 'failing_at', 'finished_at'], at)
  if (kind !== 'build.state_changed') return earlier
  const to = data.to as BuildState
  const blockedState = data.blocked_state ?? null
  return {
    ...earlier,
    state: shownBuildState(to, blockedState),
    blocked: to === 'blocked',
    blocked_state: to === 'blocked' ? (blockedState ?? '') : '',
    finished_at: finishedAt(to, earlier['finished_at'], at),
  }
}

/** A build that was continued has no end; a blocked one may have one or not. */
function finishedAt(to: BuildState, rendered: unknown, at: string): unknown {
  if (to === 'blocked') return rendered
  return isFinalBuild(to) ? (rendered ?? at) : null
}

export function jobAsOf(job: Shown, { kind, data, created_at: at }: OutboxEvent): Shown {
  if (kind !== 'job.state_changed') return job
  const to = data.to as JobState
  const earlier = withoutLater(job, ['started_at', 'finished_at', 'runnable_at'], at)
  return {
    ...earlier,
    state: shownJobState(to),
    ...(isFinal(to) ? {} : { exit_status: null, signal: null, signal_reason: null, soft_failed: false }),
  }
}

export const stepAsOf = (step: StepSnapshot, event: Message['event']): StepSnapshot =>
  event === 'step.failing' ? { ...step, state: 'failing', outcome: 'hard_failed' } : step

function withoutLater(object: Shown, names: readonly string[], at: string): Shown {
  const later = names.filter((name) => {
    const time = object[name]
    return typeof time === 'string' && time > at
  })
  return { ...object, ...Object.fromEntries(later.map((name) => [name, null])) }
}
