// Events of agents and deadlines about one job.

import { isSoft } from '../outcome.ts'
import type { JobRow } from '../rows.ts'
import { isFinal } from '../states.ts'
import type { JobState } from '../states.ts'
import { loadJob } from './ask.ts'
import type { Draft } from './draft.ts'
import type { EventOf } from './events.ts'
import { endJob } from './finish.ts'
import type { Asking } from './needs.ts'
import { noteStart } from './ready.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'

type MoveEvent = EventOf<'reserve' | 'assign' | 'accept' | 'start' | 'give_back'>

const MOVES = {
  reserve: { from: ['scheduled'], to: 'reserved' },
  assign: { from: ['scheduled', 'reserved'], to: 'assigned' },
  accept: { from: ['assigned'], to: 'accepted' },
  // An agent may accept and start a job at once.
  start: { from: ['assigned', 'accepted'], to: 'running' },
  give_back: { from: ['reserved', 'assigned', 'accepted'], to: 'scheduled' },
} as const satisfies Record<MoveEvent['type'], { from: readonly JobState[]; to: JobState }>

export function* moveWithAgent(draft: Draft, event: MoveEvent): Asking<Refusal | null> {
  const { from, to } = MOVES[event.type]
  const job = yield* loadIn(draft, event.jobId, from)
  if ('ok' in job) return job
  if (event.type === 'start') {
    draft.moveJob(job.id, { state: to, startedAt: draft.at })
    noteStart(draft)
  } else {
    draft.moveJob(job.id, { state: to })
  }
  return null
}

export function* finish(draft: Draft, event: EventOf<'finish'>): Asking<Refusal | null> {
  const job = yield* loadIn(draft, event.jobId, ['running', 'timing_out', 'canceling'])
  if ('ok' in job) return job
  const { exitStatus, signal, signalReason } = event
  endJob(draft, job, { exitStatus, signal, signalReason })
  return null
}

/** A job that had started fails with the reason `agent_lost`; one that had not goes to another agent. */
export function* loseAgent(draft: Draft, event: EventOf<'lose_agent'>): Asking<Refusal | null> {
  const job = yield* loadIn(draft, event.jobId, [
    'assigned',
    'accepted',
    'running',
    'timing_out',
    'canceling',
  ])
  if ('ok' in job) return job
  if (job.state === 'assigned' || job.state === 'accepted') {
    draft.moveJob(job.id, { state: 'scheduled' })
    return null
  }
  draft.moveJob(job.id, { reason: 'agent_lost' })
  endJob(draft, job, { exitStatus: -1, signal: null, signalReason: null })
  return null
}

export function* timeOut(draft: Draft, event: EventOf<'time_out'>): Asking<Refusal | null> {
  const job = yield* loadIn(draft, event.jobId, ['running'])
  if ('ok' in job) return job
  draft.moveJob(job.id, { state: 'timing_out' })
  draft.effects.push({ kind: 'cancel_on_agent', jobId: job.id, cause: 'timed_out' })
  return null
}

export function* giveUpOnAgent(draft: Draft, event: EventOf<'give_up_on_agent'>): Asking<Refusal | null> {
  const job = yield* loadIn(draft, event.jobId, ['timing_out', 'canceling'])
  if ('ok' in job) return job
  endJob(draft, job, { exitStatus: -1, signal: null, signalReason: 'cancel' })
  return null
}

export function* expire(draft: Draft, event: EventOf<'expire'>): Asking<Refusal | null> {
  const job = yield* loadIn(draft, event.jobId, ['scheduled'])
  if ('ok' in job) return job
  draft.moveJob(job.id, { state: 'expired', softFailed: isSoft(job.policy.softFail, null) })
  return null
}

/** A late report about a job that has ended is refused, and changes nothing. */
function* loadIn(draft: Draft, jobId: string, states: readonly JobState[]): Asking<JobRow | Refusal> {
  const job = yield* loadJob(draft, jobId)
  if (job === null) return refuse('not_found', 'No job found')
  if (job.kind !== 'script') return refuse('wrong_kind', 'Only a command job runs on an agent')
  if (isFinal(job.state)) return refuse('job_finished', 'The job has already finished')
  return states.includes(job.state) ? job : refuse('wrong_state', `The job is ${job.state}`)
}
