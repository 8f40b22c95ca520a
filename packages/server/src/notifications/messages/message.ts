// A message is one event with all data that providers may send. It is rendered and stored once, when the event is read from
// the outbox; every attempt of every service builds its request from the same message.
import type { AuditEventName, BuildStateName, EventName, StepEventName } from '../names.ts'

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

export interface StepSnapshot {
  id: string
  key: string | null
  /** As it was typed, for conditions. */
  label: string | null
  /** The label with the values of its jobs. Messages of older releases have none. */
  name?: string | null
  state: string
  outcome: string | null
}

export interface AuditEventShown {
  id: string
  type: string
  occurred_at: string
  actor: Shown | null
  subject: { type: string; uuid: string; name: string | null }
  context: Shown | null
  data: Shown
}

export interface MessageData {
  /** Values of `build_states`. A fixed build has passed as well. */
  states: readonly BuildStateName[]
  /** null: the service's creator is named instead. */
  sender: Person | null
  organization: Shown
  /** Without jobs, environment and pipeline. */
  build?: Shown
  pipeline?: Shown
  job?: Shown
  step?: StepSnapshot
  agent?: Shown
  cluster_token?: Shown
  test?: Shown
  suite?: Shown
  budget?: Shown
  /** As the audit log shows it. */
  audit_event?: AuditEventShown
  /** The first few failed jobs, for builds that are failing or have ended. */
  failed_jobs?: readonly FailedJob[]
  /** Fields of the body that only some events have. */
  more?: Readonly<Record<string, unknown>>
}

export interface Message extends MessageData {
  id: string
  event: EventName | StepEventName | AuditEventName
  occurredAt: string
}

/** One queue for each branch of a pipeline, so that a chat or a tracker gets its builds in order. */
export const branchQueue = ({ pipeline, build }: MessageData): string =>
  build === undefined ? 'ping' : `${String(pipeline?.['id'])} ${String(build['branch'])}`

/** `exit status 2`, or the state where there is none. */
export const failureOf = ({ state, exit_status: status }: FailedJob): string =>
  state === 'failed' && status !== null ? `exit status ${status}` : state.replaceAll('_', ' ')

/** A field of an object as text; '' where it has none. */
export function textIn(object: Shown, name: string): string {
  const value = object[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
