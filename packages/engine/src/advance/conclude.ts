// The consequences of an event's own change: it propagates to all dependents, fail-fast jobs are canceled, steps
// that can never start end, and the build's state follows from its counters.

import { hasFinishedAt, isFailing, isStuck, deriveState } from '../build-state.ts'
import type { StepRow } from '../rows.ts'
import { assertBuildTransition } from '../states.ts'
import { isStoppable, stopJob } from './cancel.ts'
import type { Draft } from './draft.ts'
import type { Asking } from './needs.ts'
import { propagate } from './propagate.ts'

export function* conclude(draft: Draft): Asking<void> {
  yield* propagate(draft)
  while (!draft.build.cancelRequested && draft.build.state !== 'skipped') {
    if (isFailing(draft.build) && draft.build.failFast > 0) yield* cutShort(draft)
    else if (isStuck(draft.build)) yield* giveUp(draft)
    else break
    yield* propagate(draft)
  }
  enterState(draft)
}

function* cutShort(draft: Draft): Asking<void> {
  draft.take(yield { kind: 'unfinished_jobs', only: 'fail_fast' })
  for (const job of draft.newestJobs()) {
    if (job.failFast && isStoppable(job)) stopJob(draft, job, { cutShort: true })
  }
}

// A step that names an undefined key fails together with its dependents, unless those allow the failure. Only when
// no such step is left do the remaining ones wait for each other.
function* giveUp(draft: Draft): Asking<void> {
  draft.take(yield { kind: 'waiting_steps' })
  const waiting = draft.allSteps().filter((step) => isWaiting(step) && step.open > 0)
  const missing = waiting.filter((step) => step.missing > 0)
  for (const step of missing.length > 0 ? missing : waiting) {
    draft.setStep({ ...step, impossible: true })
    draft.touch(step.id)
    draft.build = { ...draft.build, impossible: draft.build.impossible + 1 }
  }
}

function isWaiting(step: StepRow): boolean {
  return step.phase === 'waiting' || step.phase === 'blocked'
}

function enterState(draft: Draft): void {
  const { build } = draft
  const derived = deriveState(build)
  if (derived.state !== build.state) assertBuildTransition(build.state, derived.state)
  const isOver = hasFinishedAt(derived)
  draft.build = {
    ...build,
    ...derived,
    failingAt: build.failingAt ?? (derived.state === 'failing' ? draft.at : null),
    finishedAt: isOver ? (build.finishedAt ?? draft.at) : null,
  }
}
