// When the waiting jobs of a queue will start. One call estimates all of them, with the same few statements whatever their number.
import { setImmediate } from 'node:timers/promises'
import { estimateStarts, type Unknown } from '@millrace/engine/estimate/estimate.ts'
import { historyOf } from '@millrace/engine/estimate/lengths.ts'
import type { Db } from '../../db/pool.ts'
import { findMachines } from '../dispatch/fair-order.ts'
import { findSlotTimes } from './group-slots.ts'
import { queueNow } from './queue-now.ts'
import { mostAgents, mostJobs, readRows, readSettings, type JobRow, type Queue } from './queue-rows.ts'

export type NoEstimate =
  | Unknown
  /** Nobody knows when a person, a step or a concurrency group lets the job go on. */
  | 'not_in_queue'
  | 'queue_paused'
  /** Agents are started for the queue's jobs. */
  | 'on_demand'
  | 'concurrency_group'
  /** Agents that could take the job are idle and do not ask for it. */
  | 'agents_idle'

/** null: `unknown` says why not. */
export interface StartEstimate {
  startAt: Date | null
  unknown: NoEstimate | null
}

interface QueueEstimates {
  /** `agents`: those that can run the job. Without any, it is not among the jobs that were looked at. */
  of(jobId: string, agents: number): StartEstimate
  /** The jobs that were looked at. */
  jobs: readonly JobRow[]
}

export const noEstimate = (unknown: NoEstimate): StartEstimate => ({ startAt: null, unknown })

const nothingKnown = (unknown: NoEstimate): QueueEstimates => ({ of: () => noEstimate(unknown), jobs: [] })

/** `groupedJobId`: a job that waits for its concurrency group and comes to this queue then. */
export async function estimateQueue(
  db: Db,
  queue: Queue,
  now: Date,
  groupedJobId: string | null = null,
): Promise<QueueEstimates> {
  const settings = await readSettings(db, queue)
  if (settings === undefined) return nothingKnown('no_agent')
  if (settings.isPaused) return nothingKnown('queue_paused')
  if (settings.isOnDemand) return nothingKnown('on_demand')
  const machines = settings.isFair ? await findMachines(db, queue.organizationId, queue.queueId) : null
  const of = { machines, isFair: settings.isFair, alsoJobId: groupedJobId }
  const rows = await readRows(db, queue, now.toISOString(), of)
  if (rows.agents.length > mostAgents) return nothingKnown('too_large')
  const history = historyOf(rows.ended)
  const notBefore = groupedJobId === null ? [] : await findSlotTimes(db, queue, groupedJobId, history, now)
  if (notBefore === null) return nothingKnown('concurrency_group')
  const { virtualTime, weights } = settings
  const fairness = virtualTime === null || !settings.isFair ? null : { virtualTime, weights, machines }
  const { now: seen, left } = queueNow(rows, { history, fairness, notBefore })
  const estimates = await runApart(estimateStarts(seen))
  return {
    jobs: rows.jobs,
    of(jobId, agents) {
      if (agents === 0) return noEstimate('no_agent')
      const estimate = estimates.get(jobId)
      // It has left the queue meanwhile, or a stack has it.
      if (estimate === undefined)
        return noEstimate(rows.jobs.length < mostJobs ? 'not_in_queue' : 'too_large')
      if ('seconds' in estimate)
        return { startAt: new Date(now.getTime() + Math.round(estimate.seconds) * 1000), unknown: null }
      return noEstimate(left.has(jobId) ? 'agents_idle' : estimate.unknown)
    },
  }
}

/** With the requests of others in between. */
async function runApart<Result>(steps: Generator<undefined, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await setImmediate()
  }
}
