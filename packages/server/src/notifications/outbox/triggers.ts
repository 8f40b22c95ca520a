// What an event of the outbox is called by those who listen.
import type { OutboxEvent } from './cursor.ts'
import {
  isEventName,
  isStepEventName,
  type BuildStateName,
  type EventName,
  type StepEventName,
} from '../names.ts'
import type { Occasion } from '../provider.ts'

export interface EventOccasion {
  row: OutboxEvent
  event: EventName | StepEventName
  states: readonly BuildStateName[]
}

/** One that services may hear of. */
export type ServiceOccasion = EventOccasion & Occasion

export const isForServices = (occasion: EventOccasion): occasion is ServiceOccasion =>
  isEventName(occasion.event)

/** Without `build_fixed`, which takes a look at the builds before. */
export function occasionsOf(row: OutboxEvent): EventOccasion[] {
  return newsOf(row).flatMap((news): EventOccasion[] => {
    // A build that waits for a person has come to an end for the time being.
    if (news === 'build.blocked') return [{ row, event: 'build.finished', states: ['build_blocked'] }]
    // The engine says both where nothing but a person can move it on.
    if (news === 'build.finished' && row.data.to === 'blocked') return []
    if (isStepEventName(news)) return [{ row, event: news, states: [] }]
    return isEventName(news) ? [{ row, event: news, states: statesOf(news, row.data.to) }] : []
  })
}

function newsOf({ kind, data }: OutboxEvent): readonly string[] {
  return kind.endsWith('.state_changed') ? (data.news ?? []) : [kind]
}

function statesOf(news: string, to: string | undefined): BuildStateName[] {
  if (news === 'build.failing') return ['build_failing']
  if (news === 'job.activated') return ['job_activated']
  if (news !== 'build.finished') return []
  const name = ended[to ?? '']
  return name === undefined ? [] : [name]
}

const ended: Readonly<Record<string, BuildStateName>> = {
  passed: 'build_passed',
  failed: 'build_failed',
  canceled: 'build_canceled',
}
