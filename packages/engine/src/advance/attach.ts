import { edgeTallyOf, NO_EDGE_TALLY, NO_UPLOAD_TALLY, uploadTallyOf } from '../dependencies.ts'
import type { Plan } from '../plan.ts'
import type { EdgeRow } from '../rows.ts'
import { memberTallyOf, NO_STEP_TALLY, shift } from '../tally.ts'
import type { Draft } from './draft.ts'

/** Adds planned rows and counts them in wherever they count; which phase each is in is judged afterwards. */
export function attach(draft: Draft, plan: Plan): void {
  for (const step of plan.steps) draft.addStep(step)
  for (const job of plan.jobs) draft.addJob(job)
  for (const { row } of plan.steps) if (row.kind !== 'group') countIn(draft, row.id)
  for (const { row } of plan.steps) {
    draft.markSeen(draft.step(row.id))
    draft.touch(row.id)
  }
  for (const edge of plan.edges) joinSteps(draft, edge)
  draft.newRefs.push(...plan.refs)
}

export function joinSteps(draft: Draft, edge: EdgeRow): void {
  draft.addEdge(edge)
  const tally = edgeTallyOf(draft.seenStep(edge.from), edge)
  draft.setStep(shift(draft.step(edge.to), NO_EDGE_TALLY, tally))
  draft.touch(edge.to)
}

function countIn(draft: Draft, stepId: string): void {
  const step = draft.step(stepId)
  if (step.groupId !== null) {
    const group = shift(draft.step(step.groupId), NO_STEP_TALLY, memberTallyOf(step))
    draft.setStep(shift(group, NO_UPLOAD_TALLY, uploadTallyOf(step)))
  }
  if (step.uploaderId !== null) {
    draft.setStep(shift(draft.step(step.uploaderId), NO_UPLOAD_TALLY, uploadTallyOf(step)))
  }
}
