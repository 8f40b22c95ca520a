// Decides which older builds of a branch a new build skips or cancels.

import { matchesBranch } from './branches.ts'
import type { BuildState } from './states.ts'

interface IntermediateSettings {
  skipQueued: boolean
  /** Branch patterns; null: every branch. */
  skipQueuedFilter: string | null
  cancelRunning: boolean
  cancelRunningFilter: string | null
}

export interface BranchBuild {
  id: string
  number: number
  branch: string
  state: BuildState
  isForMergeQueue: boolean
}

interface Superseded {
  skip: string[]
  cancel: string[]
}

/** `others` are builds of the same pipeline. Asked when a build is created and again when it starts. */
export function supersededBy(
  newest: Omit<BranchBuild, 'state'>,
  others: readonly BranchBuild[],
  settings: IntermediateSettings,
): Superseded {
  const superseded: Superseded = { skip: [], cancel: [] }
  if (newest.isForMergeQueue) return superseded
  const older = others.filter(
    (build) => build.number < newest.number && build.branch === newest.branch && !build.isForMergeQueue,
  )
  if (settings.skipQueued && passes(settings.skipQueuedFilter, newest.branch)) {
    superseded.skip = older.filter(isQueued).map((build) => build.id)
  }
  if (settings.cancelRunning && passes(settings.cancelRunningFilter, newest.branch)) {
    superseded.cancel = older.filter(isRunning).map((build) => build.id)
  }
  return superseded
}

function passes(filter: string | null, branch: string): boolean {
  return filter === null || matchesBranch(filter, branch)
}

function isQueued({ state }: BranchBuild): boolean {
  return state === 'creating' || state === 'scheduled'
}

function isRunning({ state }: BranchBuild): boolean {
  return state === 'running' || state === 'failing' || state === 'blocked'
}
