// The result of a finished job, and the state of a step with such jobs.

import type { JobRow, StepRow } from './rows.ts'
import type { StepOutcome, StepState } from './states.ts'
import type { SoftFail } from './steps/types.ts'

type Verdict = 'open' | 'ok' | 'soft' | 'hard' | 'canceled' | 'not_run' | 'ignored'

export function verdictOf(job: Pick<JobRow, 'state' | 'softFailed'>): Verdict {
  switch (job.state) {
    case 'passed':
    case 'unblocked':
    case 'skipped':
      return 'ok'
    case 'failed':
    case 'timed_out':
      return job.softFailed ? 'soft' : 'hard'
    case 'canceled':
    case 'expired':
      return job.softFailed ? 'soft' : 'canceled'
    case 'waiting_failed':
    case 'blocked_failed':
    case 'unblocked_failed':
      return 'not_run'
    case 'broken':
      return 'ignored'
    case 'pending':
    case 'waiting':
    case 'blocked':
    case 'limiting':
    case 'limited':
    case 'scheduled':
    case 'reserved':
    case 'assigned':
    case 'accepted':
    case 'running':
    case 'timing_out':
    case 'canceling':
      return 'open'
  }
}

/** Does this job, being the newest of its slot, make the build fail? */
export function isHardFailure(job: Pick<JobRow, 'state' | 'softFailed' | 'cutShort'>): boolean {
  const verdict = verdictOf(job)
  return verdict === 'hard' || (verdict === 'canceled' && !job.cutShort)
}

/** Whether an ended job that did not pass is soft. Without an exit status only `soft_fail: true` helps. */
export function isSoft(softFail: SoftFail, exitStatus: number | null): boolean {
  if (typeof softFail === 'boolean') return softFail
  if (exitStatus === null || exitStatus === 0) return false
  return softFail.some((entry) => entry === '*' || entry === exitStatus)
}

export function stepStateOf(step: StepRow): StepState {
  if (step.total === step.broken) return 'ignored'
  if (step.open === 0) return step.canceled === step.total - step.broken ? 'canceled' : 'finished'
  if (step.kind !== 'group' && step.phase !== 'ready') return 'waiting_for_dependencies'
  if (step.kind === 'block' || step.kind === 'input') return 'waiting_for_input'
  if (step.hardFailed > 0 || step.promised > 0) return 'failing'
  const hasBegun = step.onAgent > 0 || step.open < step.total - step.broken
  if (hasBegun || step.kind === 'trigger') return 'running'
  return step.kind === 'group' ? 'waiting_for_dependencies' : 'ready'
}

export function stepOutcomeOf(step: StepRow): StepOutcome {
  if (step.kind === 'wait' || step.total === step.broken) return 'neutral'
  if (step.canceled > 0 || step.timedOut > 0) return 'errored'
  if (step.hardFailed > 0) return 'hard_failed'
  if (step.open > 0 || step.notRun > 0) return 'neutral'
  return step.softFailed > 0 ? 'soft_failed' : 'passed'
}
