import type { BuildRow } from './rows.ts'
import { NO_BUILD_TALLY } from './tally.ts'

/** A build that has no steps yet. */
export function newBuild(id: string, scheduledAt: string): BuildRow {
  return {
    id,
    state: 'creating',
    blockedState: null,
    ...NO_BUILD_TALLY,
    jobs: 0,
    uploads: 0,
    impossible: 0,
    everStarted: false,
    cancelRequested: false,
    cancelReason: null,
    scheduledAt,
    startedAt: null,
    failingAt: null,
    finishedAt: null,
    workedSeconds: 0,
  }
}
