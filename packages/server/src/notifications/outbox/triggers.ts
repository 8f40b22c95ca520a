// Maps rows of the outbox to the event names that services and pipelines know.
import type { OutboxEvent } from './cursor.ts'
import {
  isAuditEventName,
  isEventName,
  isStepEventName,
  type AuditEventName,
  type BuildStateName,
  type EventName,
  type StepEventName,
} from '../names.ts'
import type { Trigger } from '../provider.ts'

export interface EventTrigger {
  row: OutboxEvent
  event: EventName | StepEventName | AuditEventName
  states: readonly BuildStateName[]
}

export type ServiceTrigger = EventTrigger & (Trigger | AuditTrigger)

interface AuditTrigger {
  event: AuditEventName
  states: readonly BuildStateName[]
}

export const isForServices = (trigger: EventTrigger): trigger is ServiceTrigger =>
  isEventName(trigger.event) || isAuditEventName(trigger.event)

/** A row may be several events at once. */
export const keyOf = ({ row, event }: EventTrigger): string => `${row.id} ${event}`

/** Without the state `build_fixed`, which depends on earlier builds. */
export function triggersOf(row: OutboxEvent): EventTrigger[] {
  return namesIn(row).flatMap((name): EventTrigger[] => {
    // A blocked build is published as finished.
    if (name === 'build.blocked') return [{ row, event: 'build.finished', states: ['build_blocked'] }]
    // The engine emits both events when only a person can continue the build.
    if (name === 'build.finished' && row.data.to === 'blocked') return []
    if (isStepEventName(name) || isAuditEventName(name)) return [{ row, event: name, states: [] }]
    return isEventName(name) ? [{ row, event: name, states: statesOf(name, row.data.to) }] : []
  })
}

function namesIn({ kind, data }: OutboxEvent): readonly string[] {
  return kind.endsWith('.state_changed') ? (data.event_names ?? []) : [kind]
}

function statesOf(name: string, to: string | undefined): BuildStateName[] {
  if (name === 'build.failing') return ['build_failing']
  if (name === 'job.activated') return ['job_activated']
  if (name !== 'build.finished') return []
  const state = ended[to ?? '']
  return state === undefined ? [] : [state]
}

const ended: Readonly<Record<string, BuildStateName>> = {
  passed: 'build_passed',
  failed: 'build_failed',
  canceled: 'build_canceled',
}
