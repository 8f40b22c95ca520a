// Every counter of a build, a step or a group is a sum of these functions over rows, so a
// change to one row changes a sum by the difference of two small objects and never by a recount.

import { isHardFailure, stepStateOf, verdictOf } from './outcome.ts'
import type { BuildTally, JobRow, StepRow, StepTally } from './rows.ts'
import { isActive, isStopping } from './states.ts'

export const NO_BUILD_TALLY: BuildTally = {
  active: 0,
  onAgent: 0,
  hardFailed: 0,
  promised: 0,
  cutShort: 0,
  waiting: 0,
  wanted: 0,
  failFast: 0,
  manualPassed: 0,
  manualFailed: 0,
  manualRunning: 0,
}

export const NO_STEP_TALLY: StepTally = {
  total: 0,
  open: 0,
  onAgent: 0,
  broken: 0,
  softFailed: 0,
  hardFailed: 0,
  timedOut: 0,
  canceled: 0,
  notRun: 0,
  promised: 0,
}

/** A retried job counts nowhere: its successor has taken its place. */
export function buildTallyOf(job: JobRow): BuildTally {
  if (job.retriedInJobId !== null) return NO_BUILD_TALLY
  const verdict = verdictOf(job)
  const isOpen = verdict === 'open'
  const isOpenManual = job.state === 'blocked' && job.unblockable
  return {
    active: count(isActive(job.state)),
    onAgent: count(isOnAgent(job)),
    hardFailed: count(isHardFailure(job)),
    promised: count(isOpen && job.promisedHard),
    cutShort: count(verdict === 'canceled' && job.cutShort),
    waiting: count((job.state === 'waiting' || job.state === 'blocked') && !isOpenManual),
    wanted: count(job.kind !== 'waiter' && verdict !== 'ignored'),
    failFast: count(job.failFast && isOpen && !isStopping(job.state)),
    manualPassed: count(isOpenManual && job.blockedState === 'passed'),
    manualFailed: count(isOpenManual && job.blockedState === 'failed'),
    manualRunning: count(isOpenManual && job.blockedState === 'running'),
  }
}

export function stepTallyOf(job: JobRow): StepTally {
  if (job.retriedInJobId !== null) return NO_STEP_TALLY
  const verdict = verdictOf(job)
  return {
    total: 1,
    open: count(verdict === 'open'),
    onAgent: count(isOnAgent(job)),
    broken: count(verdict === 'ignored'),
    softFailed: count(verdict === 'soft'),
    hardFailed: count(verdict === 'hard'),
    timedOut: count(verdict === 'hard' && job.state === 'timed_out'),
    canceled: count(verdict === 'canceled'),
    notRun: count(verdict === 'not_run'),
    promised: count(verdict === 'open' && job.promisedHard),
  }
}

/** The amounts that a member step adds to its group; its worst job decides. */
export function memberTallyOf(step: StepRow): StepTally {
  const isOpen = step.open > 0
  const isCanceled = step.canceled > 0
  const isHard = !isCanceled && step.hardFailed > 0
  const isNotRun = !isOpen && !isCanceled && !isHard && step.notRun > 0
  return {
    total: 1,
    open: count(isOpen),
    onAgent: count(isOpen && stepStateOf(step) === 'running'),
    broken: count(step.total === step.broken),
    softFailed: count(!isOpen && !isCanceled && !isHard && !isNotRun && step.softFailed > 0),
    hardFailed: count(isHard),
    timedOut: count(isHard && step.timedOut > 0),
    canceled: count(isCanceled),
    notRun: count(isNotRun),
    promised: count(step.promised > 0),
  }
}

/** `row` with `after - before` added to each of the counters the two hold; the same row if that is nothing. */
export function shift<Counters extends object, Row extends Counters>(
  row: Row,
  before: Counters,
  after: Counters,
): Row {
  let moved: Row | null = null
  for (const name of Object.keys(after) as (keyof Counters & string)[]) {
    const by = Number(after[name]) - Number(before[name])
    if (by === 0) continue
    moved ??= { ...row }
    moved[name] = (Number(row[name]) + by) as Row[typeof name]
  }
  return moved ?? row
}

// From its start on: until then an agent may take a job, or give it back, and nothing is counted anew. A running trigger
// has a child build, not an agent.
function isOnAgent(job: JobRow): boolean {
  return job.kind === 'script' && (job.state === 'running' || isStopping(job.state))
}

function count(isCounted: boolean): number {
  return isCounted ? 1 : 0
}
