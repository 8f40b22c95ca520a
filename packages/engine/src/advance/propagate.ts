// Carries a change of some steps to every step it concerns.
//
// In passes: each changed step first corrects the counters of its group, its uploader and its dependents by the
// difference between its last counted row and its current one; then each step whose counters changed is judged,
// and if its phase changes its jobs move with it, which changes that step again. A pass yields at most one need for
// edges and one for jobs, however many steps it handles, and none for a step whose change does not count for its
// dependents.
//
// `ready` is final, so steps become ready only when no other change is left: before that, a step may look ready
// that is not.

import { edgeTallyOf, isManual, looksTheSame, severityOf, uploadTallyOf } from '../dependencies.ts'
import type { JobRow, StepPhase, StepRow } from '../rows.ts'
import { didNotRun, isUnready } from '../states.ts'
import { memberTallyOf, shift } from '../tally.ts'
import { loadDependents, loadJobsOf, loadKin, loadSteps, pause } from './ask.ts'
import type { Draft } from './draft.ts'
import type { Asking } from './needs.ts'
import { makeReady } from './ready.ts'

/** The engine pauses after this many steps. */
const STEPS_BETWEEN_PAUSES = 1000

export function* propagate(draft: Draft): Asking<void> {
  const free = new Set<string>()
  for (;;) {
    const changed = draft.takeChanged()
    yield* spread(draft, changed)
    yield* pause(draft, changed.length)
    const touched = isOver(draft) ? [] : draft.takeTouched()
    yield* judge(
      draft,
      touched.filter((id) => phaseOf(draft.step(id)) !== 'ready'),
    )
    for (const id of touched) free.add(id)
    if (changed.length > 0 || touched.length > 0) continue
    const ready = [...free].filter((id) => phaseOf(draft.step(id)) === 'ready')
    free.clear()
    yield* judge(draft, ready)
    if (ready.length === 0) return
  }
}

/** The phase a step belongs in by its counters. */
export function phaseOf(step: StepRow): StepPhase {
  if (step.phase === 'ignored' || (step.phase === 'ready' && !isAwaited(step))) return step.phase
  if (step.failed > 0 || step.impossible) return 'not_run'
  if (step.unmet === 0 && step.missing === 0) return 'ready'
  return isManual(step) || step.held > 0 ? 'blocked' : 'waiting'
}

// A manual step has no result until a person unblocks it.
function isAwaited(step: StepRow): boolean {
  return isManual(step) && step.open > 0
}

function* spread(draft: Draft, changed: readonly string[]): Asking<void> {
  const steps = changed.map((id) => draft.step(id))
  yield* loadKin(draft, steps)
  const visible = isOver(draft) ? [] : steps.filter((step) => !looksTheSame(draft.seenStep(step.id), step))
  const ids = visible.map((step) => step.id)
  yield* loadDependents(
    draft,
    withGroups(draft, visible),
    visible.some((step) => reachesFar(draft, step)) ? 'all' : 'next',
  )
  yield* loadSteps(
    draft,
    ids.flatMap((id) => draft.edgesFrom(id).map((edge) => edge.to)),
  )
  const isVisible = new Set(ids)
  // One step's correction may change another of this pass; the next pass handles that.
  for (const after of steps) {
    const before = draft.seenStep(after.id)
    draft.markSeen(after)
    correctKin(draft, before, after)
    if (isVisible.has(after.id)) correctDependents(draft, before, after)
  }
}

// A change that shows often shows in the step's group as well, so the group's edges are fetched with it.
function withGroups(draft: Draft, steps: readonly StepRow[]): string[] {
  const groups = steps.map((step) => step.groupId).filter((id) => id !== null)
  const keyed = new Set(groups.filter((id) => draft.step(id).key !== null))
  return [...steps.map((step) => step.id), ...keyed].filter((id) => mayHaveDependents(draft.step(id)))
}

// A group without a key has no dependents; any other step may be in front of a barrier.
function mayHaveDependents(step: StepRow): boolean {
  return step.kind !== 'group' || step.key !== null
}

function correctKin(draft: Draft, before: StepRow, after: StepRow): void {
  if (after.groupId !== null) {
    const group = shift(draft.step(after.groupId), memberTallyOf(before), memberTallyOf(after))
    draft.setStep(shift(group, uploadTallyOf(before), uploadTallyOf(after)))
  }
  if (after.uploaderId !== null && after.kind !== 'group') {
    draft.setStep(shift(draft.step(after.uploaderId), uploadTallyOf(before), uploadTallyOf(after)))
  }
}

function correctDependents(draft: Draft, before: StepRow, after: StepRow): void {
  for (const edge of draft.edgesFrom(after.id)) {
    const target = draft.findStep(edge.to)
    if (target === null) continue
    draft.setStep(shift(target, edgeTallyOf(before, edge), edgeTallyOf(after, edge)))
    draft.touch(target.id)
  }
}

// Failures and blocks travel to the last step behind them; a plain end stops at the next one.
function reachesFar(draft: Draft, step: StepRow): boolean {
  const before = draft.seenStep(step.id)
  return severityOf(step) !== severityOf(before) || before.held > 0 !== step.held > 0 || isManual(step)
}

function* judge(draft: Draft, touched: readonly string[]): Asking<void> {
  const moving = touched.filter((id) => phaseOf(draft.step(id)) !== draft.step(id).phase)
  yield* loadJobsOf(draft, moving)
  for (const [index, id] of moving.entries()) {
    enterPhase(draft, draft.step(id), phaseOf(draft.step(id)))
    if (index % STEPS_BETWEEN_PAUSES === 0) yield* pause(draft, index)
  }
}

function enterPhase(draft: Draft, step: StepRow, phase: StepPhase): void {
  draft.setStep({ ...step, phase })
  for (const job of draft.jobsOf(step.id)) {
    if (phase === 'not_run') {
      if (isUnready(job.state)) draft.moveJob(job.id, { state: notRunState(step, job), unblockable: false })
      continue
    }
    const revived = didNotRun(job.state) ? draft.moveJob(job.id, { state: unreadyState(step, job) }) : job
    if (!isUnready(revived.state)) continue
    if (phase === 'ready') makeReady(draft, revived)
    else draft.moveJob(job.id, { state: unreadyState(step, job), unblockable: false })
  }
}

/** The state of a job whose step cannot start yet. */
export function unreadyState(step: StepRow, job: JobRow): 'waiting' | 'blocked' {
  return job.kind === 'manual' || step.held > 0 ? 'blocked' : 'waiting'
}

function notRunState(step: StepRow, job: JobRow): 'waiting_failed' | 'blocked_failed' {
  const wasBlocked = job.state === 'pending' ? unreadyState(step, job) === 'blocked' : job.state === 'blocked'
  return wasBlocked ? 'blocked_failed' : 'waiting_failed'
}

// The jobs of a canceled or skipped build are all ended one by one, so nothing is left to follow.
function isOver(draft: Draft): boolean {
  return draft.build.cancelRequested || draft.build.state === 'skipped'
}
