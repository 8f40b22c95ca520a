// A build's state as a function of its counters.

import type { BuildRow } from './rows.ts'
import type { BuildState } from './states.ts'
import type { BlockedState } from './steps/types.ts'

interface DerivedState {
  state: BuildState
  blockedState: BlockedState | null
}

/**
 * Expects that dependencies have been followed to their end: when nothing is active and no person is awaited,
 * whatever still waits has been given up before this is asked.
 */
export function deriveState(build: BuildRow): DerivedState {
  if (build.state === 'skipped' || build.state === 'canceled') return unblocked(build.state)
  if (build.cancelRequested) return unblocked(build.onAgent > 0 ? 'canceling' : 'canceled')
  if (build.active > 0) return unblocked(activeState(build))
  if (isAwaitingPerson(build)) return { state: 'blocked', blockedState: worstBlockedState(build) }
  if (build.wanted === 0) return unblocked('not_run')
  return unblocked(hasFailed(build) || build.cutShort > 0 ? 'failed' : 'passed')
}

function hasFailed(build: BuildRow): boolean {
  return build.hardFailed > 0 || build.impossible > 0
}

/** A failure is certain although work is still going on: the moment for canceling fail-fast jobs. */
export function isFailing(build: BuildRow): boolean {
  return build.active > 0 && (hasFailed(build) || build.promised > 0)
}

function isAwaitingPerson(build: BuildRow): boolean {
  return build.manualPassed + build.manualFailed + build.manualRunning > 0
}

/** Nothing will move any more, yet some jobs wait for something. */
export function isStuck(build: BuildRow): boolean {
  return build.active === 0 && build.waiting > 0 && !isAwaitingPerson(build)
}

/** A blocked build counts as over, unless its block asks for `running`. */
export function hasFinishedAt(derived: DerivedState): boolean {
  switch (derived.state) {
    case 'passed':
    case 'failed':
    case 'canceled':
    case 'skipped':
    case 'not_run':
      return true
    case 'blocked':
      return derived.blockedState !== 'running'
    case 'creating':
    case 'scheduled':
    case 'running':
    case 'failing':
    case 'canceling':
      return false
  }
}

function activeState(build: BuildRow): BuildState {
  if (isFailing(build)) return 'failing'
  return build.everStarted ? 'running' : 'scheduled'
}

function worstBlockedState(build: BuildRow): BlockedState {
  if (hasFailed(build) || build.manualFailed > 0) return 'failed'
  return build.manualRunning > 0 ? 'running' : 'passed'
}

function unblocked(state: BuildState): DerivedState {
  return { state, blockedState: null }
}
