// Everything that can happen to a build. `at` is when, as an ISO 8601 string.

import type { ConditionFacts } from '../conditions/facts.ts'
import type { Plan } from '../plan.ts'
import type { BuildState } from '../states.ts'
import type { BlockedState, PipelineDocument } from '../steps/types.ts'

export type BuildEvent = { at: string } & (
  | BirthEvent
  | AgentEvent
  | TimeEvent
  | PersonEvent
  | ChildEvent
  | SlotEvent
)

export type EventOf<Type extends BuildEvent['type']> = Extract<BuildEvent, { type: Type }>

type BirthEvent =
  /** The steps of a build in state `creating`. */
  | { type: 'begin'; plan: Plan }
  /** A job adds steps behind its own. */
  | { type: 'upload'; jobId: string; document: PipelineDocument; facts: ConditionFacts; replace: boolean }

type AgentEvent =
  | { type: 'reserve'; jobId: string }
  | { type: 'assign'; jobId: string }
  | { type: 'accept'; jobId: string }
  | { type: 'start'; jobId: string }
  /** The job was taken but not started in time, or given back. */
  | { type: 'give_back'; jobId: string }
  | {
      type: 'finish'
      jobId: string
      exitStatus: number
      signal: string | null
      signalReason: string | null
    }
  | { type: 'lose_agent'; jobId: string }
  /** The reason is published with the event. */
  | { type: 'promise'; jobId: string; exitStatus: number; reason?: string | null }

type TimeEvent =
  | { type: 'time_out'; jobId: string }
  /** The grace after a stop request has passed and the agent has said nothing. */
  | { type: 'give_up_on_agent'; jobId: string }
  | { type: 'expire'; jobId: string }

type PersonEvent =
  | { type: 'cancel_job'; jobId: string }
  | { type: 'cancel_step'; stepId: string }
  | { type: 'cancel_build'; reason: string | null }
  | { type: 'skip_build' }
  | {
      type: 'unblock'
      jobId: string
      answers: Readonly<Record<string, string | readonly string[]>>
      by: string | null
    }
  /** `parentCanceled`: the build that waits for this one has been canceled. */
  | { type: 'retry'; jobId: string; parentCanceled: boolean }

type ChildEvent =
  | { type: 'child_created'; jobId: string; buildId: string }
  | { type: 'child_refused'; jobId: string; message: string }
  | {
      type: 'child_changed'
      jobId: string
      state: BuildState
      blockedState: BlockedState | null
      /** The child was canceled because a newer one took its place. */
      isSuperseded: boolean
    }

/** The decisions of concurrency.ts about jobs of this build. */
interface SlotEvent {
  type: 'slots_decided'
  start: readonly string[]
  wait: readonly string[]
  release: readonly string[]
}
