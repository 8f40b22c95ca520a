// The engine's questions to its caller, and their answers.
//
// An answer may hold more than was asked; that only saves a question. A step always comes with its group and
// the steps of its upload path. A row the engine already has is not overwritten.

import type { EdgeRow, JobRow, RefRow, StepRow } from '../rows.ts'

export type Need =
  /** The job and its step. No such job in this build: answer without it. */
  | { kind: 'job'; jobId: string }
  | { kind: 'steps'; stepIds: readonly string[] }
  /** The newest job of every slot of these steps. */
  | { kind: 'jobs'; ofSteps: readonly string[] }
  /**
   * The edges out of these steps and the steps they lead to. With reach `all` also, as far as it is cheap to
   * find, the edges and jobs of every waiting step further behind.
   */
  | { kind: 'dependents'; ofSteps: readonly string[]; reach: 'next' | 'all' }
  /** Every newest job that has not ended, with its step; or only those with `failFast`. */
  | { kind: 'unfinished_jobs'; only: 'all' | 'fail_fast' }
  /** Every step in phase `waiting` or `blocked` that has an open job, with its jobs. */
  | { kind: 'waiting_steps' }
  /** Every step marked impossible, with its jobs. */
  | { kind: 'impossible_steps' }
  /** Every newest job that no agent has been offered yet, with its step and the edges out of that step. */
  | { kind: 'unstarted_jobs' }
  /** Nothing: a large change stops here for a moment, so that the caller can do something else. */
  | { kind: 'pause' }
  | SurroundingsNeed

export interface SurroundingsNeed {
  kind: 'surroundings'
  /** Where the first new step will stand. */
  position: string
  /** Steps that are about to be removed and must be overlooked. */
  without: readonly string[]
  /** Whether `earlier` is wanted. */
  coversEarlier: boolean
  /** Keys the upload defines. */
  keys: readonly string[]
  /** Keys the upload depends on. */
  refs: readonly string[]
}

/** The ids refer to steps of the same answer. */
export interface Surroundings {
  /** The last barrier outside any group in front of the position. */
  barrierBefore: string | null
  /**
   * Every step that is neither ignored nor a group, from the last `full` barrier outside any group in front of
   * the position up to the position.
   */
  earlier: readonly string[]
  /** The first `full` barrier outside any group behind the position that is in phase `waiting` or `blocked`. */
  barrierAfter: string | null
  /** Steps with one of the keys or refs, and the members of groups among them. */
  keyed: readonly string[]
  /** Unresolved references to one of the keys, whose steps are in the answer too. */
  refs: readonly RefRow[]
}

export interface Answer {
  steps?: readonly StepRow[]
  jobs?: readonly JobRow[]
  edges?: readonly EdgeRow[]
  refs?: readonly RefRow[]
  /** The steps whose outgoing edges are all in `edges`. */
  edgesFrom?: readonly string[]
  /** The steps whose newest jobs are all in `jobs`. */
  jobsOf?: readonly string[]
  surroundings?: Surroundings
}

/** Part of an advance: it yields a need, and the yield returns the answer. */
export type Asking<T> = Generator<Need, T, Answer>
