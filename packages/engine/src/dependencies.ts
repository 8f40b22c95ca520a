// How a step counts for the steps that depend on it.
//
// A dependency is judged by how badly its source has gone wrong so far and by whether the source has ended.
// `failed` covers a hard failure and a step that did not run because of one; `cut` covers a cancel, an expiry
// and a step that did not run because of those. An allowed failure is `tolerated`; a cut never is, because a
// cancel is meant to stop everything behind it.
//
// Every function here is pure in the source's row, so a dependent's counters change by the difference between
// the edge's result for the row before and its result for the row after. Reopening is the same arithmetic in
// reverse.

import type { EdgeRow, EdgeTally, StepRow, UploadTally } from './rows.ts'

type Severity = 'fine' | 'failed' | 'cut'
type Judgement = 'wait' | 'ok' | 'tolerated' | 'failed' | 'cut'

export const NO_EDGE_TALLY: EdgeTally = { unmet: 0, held: 0, failed: 0, cut: 0, tolerated: 0 }

export const NO_UPLOAD_TALLY: UploadTally = {
  uploadsOpen: 0,
  uploadsHeld: 0,
  uploadsFailed: 0,
  uploadsCut: 0,
}

/** A failure that is not allowed decides at once; success only counts when all of the source has ended. */
export function judge(severity: Severity, hasEnded: boolean, allowFailure: boolean): Judgement {
  if (severity === 'cut') return 'cut'
  if (severity === 'failed' && !allowFailure) return 'failed'
  if (!hasEnded) return 'wait'
  return severity === 'failed' ? 'tolerated' : 'ok'
}

/** The worst of a step's newest jobs, decided only when all of them have ended. */
export function severityOf(step: StepRow): Severity {
  if (step.open > 0) return 'fine'
  if (step.canceled > 0 || (step.notRun > 0 && step.cut > 0)) return 'cut'
  return step.hardFailed > 0 || step.notRun > 0 ? 'failed' : 'fine'
}

/** Some person has to act before this step can end. */
function isHeld(step: StepRow): boolean {
  if (step.open === 0) return false
  return isManual(step) || (step.phase !== 'ready' && step.held > 0)
}

export function isManual(step: StepRow): boolean {
  return step.kind === 'block' || step.kind === 'input'
}

/** The amounts that the source of an edge adds to the counters of the edge's target. */
export function edgeTallyOf(source: StepRow, edge: EdgeRow): EdgeTally {
  const judgement = judgeEdge(source, edge)
  const isOpen = judgement === 'wait'
  const held = edge.whole ? isTreeHeld(source) : isHeld(source)
  return {
    unmet: isOpen ? 1 : 0,
    held: isOpen && held ? 1 : 0,
    failed: judgement === 'failed' || judgement === 'cut' ? 1 : 0,
    cut: judgement === 'cut' ? 1 : 0,
    tolerated: judgement === 'tolerated' && edge.kind === 'covers' ? 1 : 0,
  }
}

/** The amounts that a step, with everything it uploaded, adds to the counters of its uploader. */
export function uploadTallyOf(step: StepRow): UploadTally {
  const severity = treeSeverityOf(step)
  return {
    uploadsOpen: isTreeEnded(step) ? 0 : 1,
    uploadsHeld: isTreeHeld(step) ? 1 : 0,
    uploadsFailed: severity === 'failed' ? 1 : 0,
    uploadsCut: severity === 'cut' ? 1 : 0,
  }
}

/** Whether the two rows count the same for dependents. */
export function looksTheSame(before: StepRow, after: StepRow): boolean {
  return (
    (before.open === 0) === (after.open === 0) &&
    severityOf(before) === severityOf(after) &&
    isHeld(before) === isHeld(after) &&
    isTreeEnded(before) === isTreeEnded(after) &&
    treeSeverityOf(before) === treeSeverityOf(after) &&
    isTreeHeld(before) === isTreeHeld(after) &&
    (after.barrier === null || speaksTheSame(before, after))
  )
}

function speaksTheSame(before: StepRow, after: StepRow): boolean {
  return (
    before.cut > 0 === after.cut > 0 &&
    before.unmet > 0 === after.unmet > 0 &&
    isTainted(before) === isTainted(after)
  )
}

function judgeEdge(source: StepRow, edge: EdgeRow): Judgement {
  if (source.barrier !== null && edge.kind === 'covers') return judgeBarrier(source, edge.allowFailure)
  return edge.whole
    ? judge(treeSeverityOf(source), isTreeEnded(source), edge.allowFailure)
    : judge(severityOf(source), source.open === 0, edge.allowFailure)
}

// A barrier is strict about everything in front of it, but it only looks back as far as the barrier before
// it. So the earlier barrier also counts for the steps in front of it: a failure it continues over, or a job that
// was retried after it passed. A barrier that did not run is never allowed.
function judgeBarrier(source: StepRow, continuesOnFailure: boolean): Judgement {
  const own = judge(severityOf(source), source.open === 0, false)
  if (own === 'failed' || own === 'cut') return own
  if (source.cut > 0) return 'cut'
  if (isTainted(source) && !continuesOnFailure) return 'failed'
  if (own === 'wait' || source.unmet > 0) return 'wait'
  return isTainted(source) ? 'tolerated' : 'ok'
}

function isTainted(barrier: StepRow): boolean {
  return barrier.failed > 0 || barrier.tolerated > 0
}

function isTreeEnded(step: StepRow): boolean {
  return step.open === 0 && step.uploadsOpen === 0
}

function isTreeHeld(step: StepRow): boolean {
  return isHeld(step) || step.uploadsHeld > 0
}

function treeSeverityOf(step: StepRow): Severity {
  const own = severityOf(step)
  if (own === 'cut' || step.uploadsCut > 0) return 'cut'
  return own === 'failed' || step.uploadsFailed > 0 ? 'failed' : 'fine'
}
