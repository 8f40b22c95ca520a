// Waiting and running jobs, and the agents for them, by queue. The statements read only the rows of jobs that wait or run, by
// partial indexes; their cost does not depend on how many jobs have ended.
import { sql } from 'kysely'
import { batch } from '../../db/batch.ts'
import { prepared } from '../../db/statement.ts'
import { queueLabelNames } from '../../lib/metrics.ts'
import type { DatabaseMetric } from '../../metrics/database-metrics.ts'
import { otherQueues } from '../../metrics/queue-labels.ts'

export const measureQueues: DatabaseMetric = (makeGauge) => {
  const gauge = (name: string, help: string) => makeGauge(`millrace_queue_${name}`, help, queueLabelNames)
  const waiting = gauge('jobs_waiting', 'Jobs that could run, and that no agent and no stack has.')
  const running = gauge('jobs_running', 'Jobs that an agent has.')
  const oldest = gauge('oldest_waiting_seconds', 'How long the job that has waited longest could run.')
  const connected = gauge('agents_connected', 'Agents that are connected.')
  const busy = gauge('agents_busy', 'Connected agents that have a job.')
  const paused = gauge('dispatch_paused', '1 if the dispatch of jobs is paused.')
  const gauges = [waiting, running, oldest, connected, busy, paused]

  return async (db, labels) => {
    const known = await labels.list()
    const [waitingJobs, runningJobs, agents, pausedQueues] = await batch(db, [
      countWaiting(),
      countRunning(),
      countAgents(),
      listPaused(),
    ])
    const namesOf = (queueId: string) => known.get(queueId) ?? otherQueues
    for (const each of gauges) each.reset()
    // A queue without jobs is 0 and not absent, so that programs which follow it see that it is empty.
    for (const names of known.values()) for (const each of gauges) each.set({ ...names }, 0)
    const longest = new Map<string, number>()
    for (const { queue_id: id, jobs, seconds } of waitingJobs) {
      const names = namesOf(id)
      waiting.inc({ ...names }, jobs)
      const key = JSON.stringify(names)
      longest.set(key, Math.max(seconds, longest.get(key) ?? 0))
      oldest.set({ ...names }, longest.get(key) ?? 0)
    }
    for (const { queue_id: id, jobs } of runningJobs) running.inc({ ...namesOf(id) }, jobs)
    for (const { queue_id: id, agents: all, busy: some } of agents) {
      connected.inc({ ...namesOf(id) }, all)
      busy.inc({ ...namesOf(id) }, some)
    }
    for (const { id } of pausedQueues) if (known.has(id)) paused.set({ ...namesOf(id) }, 1)
  }
}

const countWaiting = prepared(
  () => sql<{ queue_id: string; jobs: number; seconds: number }>`
    select queue_id, count(*)::int as jobs,
      greatest(extract(epoch from now() - min(runnable_at)), 0)::float8 as seconds
    from jobs where state = 'scheduled' and queue_id is not null group by queue_id`,
)

const onAgent = sql`state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')`

const countRunning = prepared(
  () => sql<{ queue_id: string; jobs: number }>`
    select queue_id, count(*)::int as jobs from jobs where ${onAgent} and queue_id is not null group by queue_id`,
)

const countAgents = prepared(
  () => sql<{ queue_id: string; agents: number; busy: number }>`
    select a.queue_id, count(*)::int as agents, count(j.agent_id)::int as busy
    from agents a left join (select agent_id from jobs where ${onAgent}) j on j.agent_id = a.id
    where a.connection_state in ('connected', 'stopping') and a.queue_id is not null group by a.queue_id`,
)

const listPaused = prepared(
  () => sql<{ id: string }>`select id from cluster_queues where dispatch_paused_at is not null`,
)
