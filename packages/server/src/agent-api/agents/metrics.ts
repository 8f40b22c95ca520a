// Counts of jobs and agents, for programs that start and stop machines.
import { sql } from 'kysely'
import { ok } from '../../http/answer.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../lib/errors.ts'
import { agentRoute, lastOf } from '../route.ts'
import type { Registration } from '../tokens.ts'

interface QueueCounts {
  key: string
  idle: number
  busy: number
  scheduled: number
  running: number
  waiting: number
}

const getMetrics = agentRoute({
  method: 'GET',
  url: '/v3/metrics',
  token: 'registration',
  async handler({ ctx, registration }) {
    const queues = await countByQueue(ctx, registration)
    const { agents, jobs } = total(queues)
    const byQueue = (pick: (counts: ReturnType<typeof total>) => object) =>
      Object.fromEntries(queues.map((queue) => [queue.key, pick(total([queue]))]))
    return ok({
      agents: { ...agents, queues: byQueue((counts) => counts.agents) },
      jobs: { ...jobs, queues: byQueue((counts) => counts.jobs) },
      ...whose(registration),
    })
  },
})

const getQueueMetrics = agentRoute({
  method: 'GET',
  url: '/v3/metrics/queue',
  token: 'registration',
  async handler({ ctx, registration, query }) {
    const name = lastOf(query['name'])
    if (!name) throw badRequest('Which queue? Its name is missing.')
    const queues = await countByQueue(ctx, registration)
    // A queue that does not exist counts as an empty one: any error would end the run of the public metrics program,
    // and with it the counts of all other queues.
    return ok({ ...total(queues.filter(({ key }) => key === name)), ...whose(registration) })
  },
})

const whose = ({ organization, cluster }: Registration) => ({
  organization: { slug: organization.slug },
  cluster: { name: cluster.name },
})

function total(queues: readonly QueueCounts[]) {
  const sum = (name: Exclude<keyof QueueCounts, 'key'>) => queues.reduce((all, queue) => all + queue[name], 0)
  const [idle, busy, scheduled, running, waiting] = [
    sum('idle'),
    sum('busy'),
    sum('scheduled'),
    sum('running'),
    sum('waiting'),
  ]
  return {
    agents: { idle, busy, total: idle + busy },
    jobs: { scheduled, running, waiting, total: scheduled + running + waiting },
  }
}

async function countByQueue(ctx: Context, { organization, cluster }: Registration): Promise<QueueCounts[]> {
  const { rows } = await sql<QueueCounts>`
    select q.key, a.idle, a.busy, j.scheduled, j.running, j.waiting
    from cluster_queues q
    cross join lateral (
      select count(*) filter (where w.id is null) as idle, count(w.id) as busy
      from agents a left join jobs w on w.agent_id = a.id
        and w.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')
      where a.queue_id = q.id and a.connection_state in ('connected', 'stopping')
    ) a
    cross join lateral (
      select count(*) filter (where o.state in ('scheduled', 'reserved', 'assigned', 'accepted')) as scheduled,
        count(*) filter (where o.state in ('running', 'timing_out', 'canceling')) as running,
        count(*) filter (where o.state in ('waiting', 'limiting', 'limited')) as waiting
      from jobs o where o.queue_id = q.id and o.finished_at is null
    ) j
    where q.organization_id = ${organization.id} and q.cluster_id = ${cluster.id} order by q.key`.execute(
    ctx.db,
  )
  return rows
}

export const metricsApi = [getMetrics, getQueueMetrics]
