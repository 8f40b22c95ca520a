// Verbs that change a job, and why it waits.
import type { Job, JobWaiting } from '@millrace/server/wire.ts'
import { print } from '../../command.ts'
import { oneLine } from '../text.ts'
import { describeStart } from '../times.ts'
import { findJob, WAITING_FIRST, type JobOptions } from './find-job.ts'

export async function retryJob(text: string | undefined, options: JobOptions): Promise<void> {
  const { api, id } = await findJob(text, options)
  const job = await api.put<Job>(`jobs/${id}/retry`, {})
  print(options, job, `${nameOf(job)} is tried again as job ${job.id}.`)
}

export async function cancelJob(text: string | undefined, options: JobOptions): Promise<void> {
  const { api, id } = await findJob(text, options)
  const job = await api.put<Job>(`jobs/${id}/cancel`, {})
  print(options, job, `${nameOf(job)} ${job.state === 'canceled' ? 'is canceled' : 'is being canceled'}.`)
}

export async function explainWaiting(text: string | undefined, options: JobOptions): Promise<void> {
  const { api, id } = await findJob(text, options, WAITING_FIRST)
  const waiting = await api.get<JobWaiting>(`jobs/${id}/waiting`)
  print(options, waiting, describeWaiting(waiting))
}

const MOST_REASONS = 20

function describeWaiting(waiting: JobWaiting): string {
  const reasons = waiting.waiting_on.map(
    ({ type, name, key, state }) =>
      `  ${type} ${oneLine(name ?? key ?? '')}${state === null ? '' : `: ${state.replaceAll('_', ' ')}`}`,
  )
  const more = reasons.length - MOST_REASONS
  const { concurrency, queue, jobs_ahead: ahead, eligible_agents: agents } = waiting
  const facts = [
    ...(concurrency === null
      ? []
      : [
          `concurrency group ${oneLine(concurrency.group)}: ${concurrency.held} of ${concurrency.limit} taken`,
        ]),
    ...(queue === null ? [] : [`queue ${oneLine(queue.key)}`]),
    ...(waiting.agent_query_rules.length === 0
      ? []
      : [`needs an agent with ${waiting.agent_query_rules.map(oneLine).join(', ')}`]),
    ...(ahead === null ? [] : [`${ahead} ${ahead === 1 ? 'job' : 'jobs'} ahead`]),
    ...(agents === null ? [] : [`${agents} ${agents === 1 ? 'agent' : 'agents'} could take it`]),
  ]
  return [
    oneLine(waiting.reason),
    ...describeEstimate(waiting),
    ...reasons.slice(0, MOST_REASONS),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...(facts.length === 0 ? [] : [facts.join(', ')]),
  ].join('\n')
}

/** Older servers say nothing about it. */
function describeEstimate({
  estimated_start_at: at,
  estimate_unknown: unknown,
}: Partial<JobWaiting>): string[] {
  if (at) return [`It probably starts ${describeStart(at)}.`]
  return unknown && unknown.code !== 'not_in_queue' ? [`When it starts is not known: ${unknown.reason}`] : []
}

const nameOf = ({ name, id }: Job) => oneLine(name ?? id)
