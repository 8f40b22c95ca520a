// The estimated start of a waiting job, as the API gives it.
import { noEstimate, type NoEstimate, type StartEstimate } from '../../conductor/estimates/estimate-queue.ts'
import type { EstimateCode } from './schema.ts'

export interface EstimateWire {
  estimated_start_at: string | null
  estimate_unknown: { code: EstimateCode; reason: string } | null
}

const reasons: Readonly<Record<NoEstimate, string>> = {
  not_in_queue: 'The job does not wait in a queue, or not yet.',
  queue_paused: 'The queue is paused.',
  on_demand: 'Agents of this queue are started for its jobs.',
  no_agent: 'No connected agent can take the job.',
  agents_idle: 'Agents that could take the job are idle and do not ask for it.',
  concurrency_group: 'The end of a job in front of it in its concurrency group is not known.',
  no_history: 'Too few jobs of this queue have ended in the last 7 days.',
  overrun: 'A job in front of it runs longer than any such job before.',
  spread: 'The jobs in front of it may take very different times.',
  too_large: 'Too many jobs come first, or the queue has too many agents.',
}

export function presentEstimate({ startAt, unknown }: StartEstimate): EstimateWire {
  return {
    estimated_start_at: startAt === null ? null : startAt.toISOString(),
    estimate_unknown: unknown === null ? null : { code: unknown, reason: reasons[unknown] },
  }
}

export const notInQueue: EstimateWire = presentEstimate(noEstimate('not_in_queue'))
