// A `replace` upload first clears away everything that has not started.

import { edgeTallyOf, NO_EDGE_TALLY, NO_UPLOAD_TALLY, uploadTallyOf } from '../dependencies.ts'
import type { JobRow, StepRow } from '../rows.ts'
import { isUnoffered } from '../states.ts'
import { memberTallyOf, NO_STEP_TALLY, shift } from '../tally.ts'
import { loadDependents, loadKin, loadSteps } from './ask.ts'
import type { Draft } from './draft.ts'
import type { Asking } from './needs.ts'
import { propagate } from './propagate.ts'

/** A started step with jobs still to start keeps only the jobs that have. */
export function* clearUnstarted(draft: Draft): Asking<void> {
  draft.take(yield { kind: 'unstarted_jobs' })
  const jobs = draft.newestJobs().filter((job) => isUntouched(job, draft.step(job.stepId)))
  const lost = new Map<string, number>()
  for (const { stepId } of jobs) lost.set(stepId, (lost.get(stepId) ?? 0) + 1)
  const empty = [...lost].filter(([id, count]) => draft.step(id).total === count).map(([id]) => id)
  const steps = empty.map((id) => draft.step(id))
  yield* loadKin(draft, steps)
  yield* loadDependents(draft, empty, 'next')
  yield* loadSteps(
    draft,
    empty.flatMap((id) => draft.edgesFrom(id).map((edge) => edge.to)),
  )
  for (const step of steps) detach(draft, step, new Set(empty))
  for (const job of jobs) draft.removeJob(job.id)
  for (const step of steps) draft.removeStep(step.id)
  for (const group of new Set(steps.map((step) => step.groupId))) {
    if (group !== null && draft.step(group).total === 0) draft.removeStep(group)
  }
  yield* propagate(draft)
}

// A retry in a step that was ready stands for a job that may have run and uploaded others.
function isUntouched(job: JobRow, step: StepRow): boolean {
  if (job.retrySourceJobId !== null && step.phase === 'ready') return false
  return isUnoffered(job.state)
}

function detach(draft: Draft, step: StepRow, leaving: ReadonlySet<string>): void {
  if (step.groupId !== null) {
    const group = shift(draft.step(step.groupId), memberTallyOf(step), NO_STEP_TALLY)
    draft.setStep(shift(group, uploadTallyOf(step), NO_UPLOAD_TALLY))
  }
  if (step.uploaderId !== null && !leaving.has(step.uploaderId)) {
    draft.setStep(shift(draft.step(step.uploaderId), uploadTallyOf(step), NO_UPLOAD_TALLY))
  }
  for (const edge of draft.edgesFrom(step.id)) {
    if (leaving.has(edge.to)) continue
    draft.setStep(shift(draft.step(edge.to), edgeTallyOf(step, edge), NO_EDGE_TALLY))
    draft.touch(edge.to)
  }
}
