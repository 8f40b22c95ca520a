// What an event of the outbox is called by those who listen.
import type { OutboxEvent } from './cursor.ts'
import { isEventName, type BuildStateName } from './names.ts'
import type { Occasion } from './provider.ts'

export interface EventOccasion extends Occasion {
  row: OutboxEvent
}

/** Without `build_fixed`, which takes a look at the builds before. */
export function occasionsOf(row: OutboxEvent): EventOccasion[] {
  const all = newsOf(row)
  return all.flatMap((news): EventOccasion[] => {
    // A build that waits for a person has come to an end for the time being, which is told once.
    if (news === 'build.finished' && all.includes('build.blocked')) return []
    if (news === 'build.blocked') return [{ row, event: 'build.finished', states: ['build_blocked'] }]
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
