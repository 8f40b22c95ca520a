// What is told: one event, with everything a provider may want to say about it. It is put together once, when the
// event is read from the outbox, and kept; every attempt of every service makes its request from the same message.
import type { BuildStateName, EventName, StepEventName } from '../names.ts'

/** An object as the REST API shows it. */
export type Shown = Readonly<Record<string, unknown>>

export interface Person {
  id: string
  name: string
}

export interface FailedJob {
  id: string
  name: string | null
  state: string
  exit_status: number | null
  soft_failed: boolean
  web_url: string
}

export interface ToldStep {
  id: string
  key: string | null
  label: string | null
  state: string
  outcome: string | null
}

export interface MessageData {
  /** What `build_states` calls it; a passing build may be two things at once. */
  states: readonly BuildStateName[]
  /** Who did it; null: nobody in particular, and the service's creator stands in. */
  sender: Person | null
  organization: Shown
  /** Without jobs, environment and pipeline. */
  build?: Shown
  pipeline?: Shown
  job?: Shown
  step?: ToldStep
  agent?: Shown
  cluster_token?: Shown
  /** Of builds that are failing or have ended: what stands in the way, the first few. */
  failed_jobs?: readonly FailedJob[]
  /** Fields of the body that only some events have. */
  more?: Readonly<Record<string, unknown>>
}

export interface Message extends MessageData {
  id: string
  event: EventName | StepEventName
  occurredAt: string
}

/** One for each branch of a pipeline: what is read in one place comes in the order in which it happened. */
export const branchLane = ({ pipeline, build }: MessageData): string =>
  build === undefined ? 'ping' : `${String(pipeline?.['id'])} ${String(build['branch'])}`

/** A field of an object as text; '' where it has none. */
export function textIn(thing: Shown, name: string): string {
  const value = thing[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
