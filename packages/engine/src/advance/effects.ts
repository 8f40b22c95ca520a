// The consequences of a change, as data: events to publish and work to do.

import type { BuildState, JobState } from '../states.ts'
import type { BlockedState } from '../steps/types.ts'

export type BuildEventName =
  | 'build.scheduled'
  | 'build.running'
  | 'build.failing'
  | 'build.blocked'
  | 'build.finished'
  | 'build.skipped'

export type JobEventName =
  | 'job.scheduled'
  | 'job.started'
  | 'job.finished'
  | 'job.activated'
  | 'job.promised_exit_status'

type StepEventName = 'step.failing' | 'step.finished'

export type Effect =
  | {
      kind: 'build_state_changed'
      from: BuildState
      to: BuildState
      blockedState: BlockedState | null
    }
  /** One per job and advance, from null for a new job. */
  | { kind: 'job_state_changed'; jobId: string; stepId: string; from: JobState | null; to: JobState }
  /** A block or input job whose state stays the same may be unblocked now, or no longer. */
  | { kind: 'job_unblockable_changed'; jobId: string }
  | { kind: 'job_runnable'; jobId: string }
  | { kind: 'cancel_on_agent'; jobId: string; cause: 'canceled' | 'timed_out' }
  | { kind: 'create_child_build'; jobId: string }
  | { kind: 'cancel_child_build'; jobId: string; buildId: string }
  | { kind: 'concurrency_changed'; group: string }
  | { kind: 'set_meta_data'; values: Readonly<Record<string, string>> }
  | { kind: 'notify'; event: BuildEventName }
  | { kind: 'notify'; event: JobEventName; jobId: string }
  | { kind: 'notify'; event: StepEventName; stepId: string }
