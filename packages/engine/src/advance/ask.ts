// Fetches missing rows; yields no need when none is missing.

import type { JobRow, StepRow } from '../rows.ts'
import type { Draft } from './draft.ts'
import type { Asking } from './needs.ts'

export function* loadJob(draft: Draft, jobId: string): Asking<JobRow | null> {
  const held = draft.findJob(jobId)
  if (held !== null && draft.hasStep(held.stepId)) return held
  draft.take(yield { kind: 'job', jobId })
  return draft.findJob(jobId)
}

export function* loadSteps(draft: Draft, ids: readonly string[]): Asking<void> {
  const stepIds = [...new Set(ids)].filter((id) => !draft.hasStep(id))
  if (stepIds.length > 0) draft.take(yield { kind: 'steps', stepIds })
}

export function* loadJobsOf(draft: Draft, ids: readonly string[]): Asking<void> {
  const ofSteps = ids.filter((id) => !draft.hasJobsOf(id))
  if (ofSteps.length === 0) return
  draft.take(yield { kind: 'jobs', ofSteps })
  draft.take({ jobsOf: ofSteps })
}

export function* loadDependents(draft: Draft, ids: readonly string[], reach: 'next' | 'all'): Asking<void> {
  const ofSteps = ids.filter((id) => !draft.hasEdgesFrom(id))
  if (ofSteps.length === 0) return
  draft.take(yield { kind: 'dependents', ofSteps, reach })
  draft.take({ edgesFrom: ofSteps })
}

/** The group a step is in and the step that uploaded it, both of which count it. */
export function* loadKin(draft: Draft, steps: readonly StepRow[]): Asking<void> {
  const ids = steps.flatMap((step) => [step.groupId, step.uploaderId]).filter((id) => id !== null)
  yield* loadSteps(draft, ids)
}

const LARGE = 300

/** Between two parts of a change of many rows. */
export function* pause(draft: Draft, rows: number): Asking<void> {
  if (rows > LARGE) draft.take(yield { kind: 'pause' })
}
