// A build as its graph and the event stream show it.
import type * as wire from '@millrace/server/wire.ts'

export type ShortBuild = wire.ShortBuild
export type ShortJob = wire.ShortJob

/** The schema's kinds are made from a list, which its type does not show. */
export interface GraphStep extends Omit<wire.GraphStep, 'kind'> {
  kind: string
}

export interface Graph extends Omit<wire.Graph, 'steps'> {
  steps: GraphStep[]
}

export interface WatchedJob {
  id: string
  stepId: string
  state: string
  /** null: the label of the step. */
  label: string | null
  /** Among parallel jobs, from 0. */
  index: number | null
  /** 0 is the first. */
  attempt: number
  startedAt: number | null
  finishedAt: number | null
  exitStatus: number | null
  isSoftFailed: boolean
  /** The id of the job that retries it. */
  retriedIn: string | null
  agent: string | null
  /** Why it failed or was left out, in a few words. */
  note: string | null
  isUnblockable: boolean
}

/** `ShortJob` in the OpenAPI document names the entries. */
export function readJob(entries: ShortJob): WatchedJob {
  const text = (at: number) => (typeof entries[at] === 'string' ? entries[at] : null)
  const number = (at: number) => (typeof entries[at] === 'number' ? entries[at] : null)
  return {
    id: text(0) ?? '',
    stepId: text(1) ?? '',
    state: text(2) ?? '',
    label: text(3),
    index: number(4),
    attempt: number(5) ?? 0,
    startedAt: number(8),
    finishedAt: number(9),
    exitStatus: number(10),
    isSoftFailed: number(11) === 1,
    retriedIn: text(12),
    agent: text(13),
    note: text(14),
    isUnblockable: number(15) === 1,
  }
}

/** A job as a person who watches sees it. */
export type Stage = 'waiting' | 'active' | 'blocked' | 'passed' | 'failed' | 'left out'

const STAGES: Readonly<Record<string, Stage>> = {
  running: 'active',
  assigned: 'active',
  accepted: 'active',
  canceling: 'active',
  timing_out: 'active',
  passed: 'passed',
  unblocked: 'passed',
  failed: 'failed',
  timed_out: 'failed',
  expired: 'failed',
  canceled: 'failed',
  broken: 'left out',
  skipped: 'left out',
  waiting_failed: 'left out',
  blocked_failed: 'left out',
  unblocked_failed: 'left out',
}

/** A failure that the build ignores counts as passed. */
export function stageOf(job: WatchedJob): Stage {
  if (job.state === 'blocked' && job.isUnblockable) return 'blocked'
  if (job.isSoftFailed) return 'passed'
  return STAGES[job.state] ?? 'waiting'
}

const ENDS = new Set(['passed', 'failed', 'canceled', 'skipped', 'not_run'])

/** A blocked build shows what it counts as, but has not ended. */
export function hasEnded({ state, blocked }: Pick<ShortBuild, 'state' | 'blocked'>): boolean {
  return ENDS.has(state) && !blocked
}

export function hasPassed({ state }: Pick<ShortBuild, 'state'>): boolean {
  return state === 'passed' || state === 'not_run'
}
