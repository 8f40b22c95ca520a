// The rows the engine works on. They hold only values that decide a state. Commands, labels and forms are beside a
// new row (see plan.ts), and the engine never reads them again.
//
// Times are ISO 8601 strings, copied from events and never compared.

import type { BuildState, JobState } from './states.ts'
import type { BlockedState, Field, RetryRules, SoftFail } from './steps/types.ts'

/** Sums over the newest job of every slot; see tally.ts. */
export interface BuildTally {
  /** Something will still happen to it without a person. */
  active: number
  onAgent: number
  hardFailed: number
  /** Running, but has promised a failure that nothing would soften or retry. */
  promised: number
  /** Canceled because another job failed; counts against the build only at its end. */
  cutShort: number
  /** Waiting or blocked; an open manual job is counted under its blocked state instead. */
  waiting: number
  /** Neither a waiter nor broken: without one of these the build did not run. */
  wanted: number
  /** Unfinished, not yet stopping, and to be canceled when the build fails. */
  failFast: number
  manualPassed: number
  manualFailed: number
  manualRunning: number
}

export interface BuildRow extends BuildTally {
  id: string
  state: BuildState
  /** The state that the build shows while it is blocked; null in every other state. */
  blockedState: BlockedState | null
  /** Jobs ever made, retries included. */
  jobs: number
  uploads: number
  /** Steps given up because nothing could ever meet their dependencies. */
  impossible: number
  everStarted: boolean
  cancelRequested: boolean
  cancelReason: string | null
  scheduledAt: string
  startedAt: string | null
  failingAt: string | null
  finishedAt: string | null
  /** How long it ran before a retry opened it again. `startedAt` is then the time of the retry. */
  workedSeconds: number
}

/** Sums over a step's newest jobs, or over the member steps of a group. */
export interface StepTally {
  total: number
  open: number
  onAgent: number
  broken: number
  softFailed: number
  hardFailed: number
  /** Ran out of time; also counted in `hardFailed`. */
  timedOut: number
  canceled: number
  notRun: number
  promised: number
}

/** Sums over the edges that lead into a step. */
export interface EdgeTally {
  unmet: number
  /** Unmet, and held up by a person. */
  held: number
  failed: number
  /** Failed because of a cancel or an expiry; also counted in `failed`. */
  cut: number
  /** Barriers only: a failure in front of the barrier that it continues over. */
  tolerated: number
}

/** Sums over the steps this one uploaded, or over the members of a group, each with everything below it. */
export interface UploadTally {
  uploadsOpen: number
  uploadsHeld: number
  uploadsFailed: number
  uploadsCut: number
}

type StepKind = 'command' | 'wait' | 'block' | 'input' | 'trigger' | 'group'

/**
 * The state of a step's dependencies. `ready` is final, because jobs may have run. `not_run` is not: the failure
 * in front of it may be retried.
 */
export type StepPhase = 'new' | 'waiting' | 'blocked' | 'ready' | 'not_run' | 'ignored'

export interface StepRow extends StepTally, EdgeTally, UploadTally {
  id: string
  kind: StepKind
  key: string | null
  /** Sorts bytewise into display order; see plan/positions.ts. */
  position: string
  groupId: string | null
  uploaderId: string | null
  /** The uploader, its uploader and so on, outermost first. */
  uploadPath: readonly string[]
  /** `full`: covers every earlier step of its scope. `named`: a wait or block that lists its dependencies. */
  barrier: 'full' | 'named' | null
  continueOnFailure: boolean
  phase: StepPhase
  /** References to keys that no step has defined yet. */
  missing: number
  impossible: boolean
}

/**
 * `named`: written in depends_on. `behind`: to the nearest barrier. `covers`: from everything in front of a
 * barrier. `uploader`: to the job that uploaded the step.
 */
export type EdgeKind = 'named' | 'behind' | 'covers' | 'uploader'

export interface EdgeRow {
  from: string
  to: string
  kind: EdgeKind
  allowFailure: boolean
  /** Also waits for everything `from` has uploaded. */
  whole: boolean
}

/** A dependency on a key that no step has yet. */
export interface RefRow {
  stepId: string
  ref: string
  allowFailure: boolean
}

export type JobKind = 'script' | 'waiter' | 'manual' | 'trigger'

export type RetryType = 'automatic' | 'manual'

/** The step's settings for the end of this job. */
export interface JobPolicy {
  softFail: SoftFail
  retry: RetryRules
  /** Trigger jobs: pass as soon as the child build exists. */
  async: boolean
  /** Manual jobs: the form. */
  fields: readonly Field[]
}

export interface JobRow {
  id: string
  stepId: string
  kind: JobKind
  state: JobState
  /** Order inside the step; a retry keeps it. */
  slot: number
  policy: JobPolicy
  concurrencyGroup: string | null
  failFast: boolean
  /** Manual jobs only. */
  blockedState: BlockedState | null
  /** A manual job whose dependencies are met and that is not unblocked. */
  unblockable: boolean
  softFailed: boolean
  cutShort: boolean
  /** Why it is broken, was refused a child build, or was not retried. */
  reason: string | null
  exitStatus: number | null
  signal: string | null
  signalReason: string | null
  promisedExitStatus: number | null
  promisedAt: string | null
  promisedHard: boolean
  retriedInJobId: string | null
  /** How this job was retried; null until it is. */
  retryType: RetryType | null
  retrySourceJobId: string | null
  /** How this job came to be a retry; null when it is none. */
  retrySourceType: RetryType | null
  retriesCount: number
  /** How often each automatic rule has already fired for this slot, in the rules' order. */
  ruleUses: readonly number[]
  triggeredBuildId: string | null
  unblockedBy: string | null
  unblockedAt: string | null
  createdAt: string
  scheduledAt: string
  runnableAt: string | null
  startedAt: string | null
  finishedAt: string | null
}
