// What an estimate reads of a queue, with bounds: the agents, the first jobs that one of them can run, and the jobs that ended last.
import { sql, type RawBuilder } from 'kysely'
import { batch } from '../../db/batch.ts'
import type { Db } from '../../db/pool.ts'
import { dispatchOrder } from '../dispatch/claim.ts'
import { isEligible } from '../dispatch/eligible.ts'
import { fairPlaces, type MachinesNow } from '../dispatch/fair-order.ts'

export interface Queue {
  organizationId: string
  queueId: string
}

/** For queries with `jobs j`: jobs with the same value are runs of one step. */
export const stepOf: RawBuilder<string> = sql<string>`
  coalesce(j.step_key, left(j.work ->> 'label', 200), md5(j.work ->> 'command'), '')`

const onAgent = sql`('assigned', 'accepted', 'running', 'timing_out', 'canceling')`

/** A queue with more agents has no estimates. */
export const mostAgents = 1000
/** Jobs behind so many others have no estimate. */
export const mostJobs = 1000
const mostEnded = 1000
const historyDays = 7

interface SettingsRow {
  key: string
  isFair: boolean
  isPaused: boolean
  /** Its agents are started for its jobs, when they are there. */
  isOnDemand: boolean
  virtualTime: number | null
  weights: Record<string, number>
}

const settings = ({ organizationId, queueId }: Queue) => sql<SettingsRow>`
  select q.key, q.fair_by <> 'none' as "isFair", q.dispatch_paused_at is not null as "isPaused",
    q.instance_shape is not null or exists (
      select from stacks s where s.organization_id = ${organizationId} and s.queue_id = q.id and s.disconnected_at is null
    ) as "isOnDemand",
    f.virtual_time as "virtualTime", q.fair_weights as weights
  from cluster_queues q left join fair_queues f on f.queue_id = q.id
  where q.organization_id = ${organizationId} and q.id = ${queueId}`

interface ShareRow {
  share: string | null
  finish: number | null
  running: number | null
}

export interface AgentRow extends ShareRow {
  tags: string[]
  /** Of the job that it runs; null: it is idle. */
  pipeline: string | null
  step: string | null
  ranSeconds: number
  isMachine: boolean
  charge: number | null
}

const agents = ({ organizationId, queueId }: Queue, at: string) => sql<AgentRow>`
  select a.tags, j.pipeline_id as pipeline, case when j.id is not null then ${stepOf} end as step,
    greatest(0, coalesce(extract(epoch from ${at}::timestamptz - j.started_at), 0))::float8 as "ranSeconds",
    coalesce(j.is_machine, false) as "isMachine", j.charged_share as share, j.charge, s.finish, s.running
  from agents a left join jobs j on j.agent_id = a.id and j.state in ${onAgent}
  left join queue_shares s on s.queue_id = a.queue_id and s.share_key = j.charged_share
  where a.organization_id = ${organizationId} and a.queue_id = ${queueId} and ${isEligible(sql`'{}'::text[]`)}
  order by a.id limit ${sql.lit(mostAgents + 1)}`

export interface JobRow extends ShareRow {
  id: string
  rules: string[]
  pipeline: string
  step: string
  waitedSeconds: number
  isScheduled: boolean
  isMachine: boolean
  isUntrusted: boolean
  priority: number
  /** The mean length of the pipeline's jobs, in fair queues. */
  mean: number | null
  /** In the order of the queue, without regard to shares. */
  place: number
}

/** The ids of the first jobs that an agent can run, with `turn`, their order. Each list of rules is compared once. */
function first({ organizationId, queueId }: Queue, machines: MachinesNow | null, isFair: boolean) {
  const able = (rules: RawBuilder<unknown>) => sql`exists (
    select from agents a where a.organization_id = ${organizationId} and a.queue_id = ${queueId} and ${isEligible(rules)})`
  if (isFair)
    return sql`
      with places as materialized (${fairPlaces(organizationId, queueId, machines)}),
        kinds as materialized (select k.rules from (select distinct rules from places) k where ${able(sql`k.rules`)})
      select p.id, p.place as turn from places p join kinds on kinds.rules = p.rules order by p.place limit ${sql.lit(mostJobs)}`
  const waits = sql`j.queue_id = ${queueId} and j.organization_id = ${organizationId} and j.state = 'scheduled'`
  const next = (after: RawBuilder<unknown>) => sql`
    select rules_key(j.agent_query_rules) as key, j.agent_query_rules as rules from jobs j
    where ${waits} ${after} order by rules_key(j.agent_query_rules) limit 1`
  return sql`
    with recursive kinds as (
      (${next(sql``)})
      union all
      select later.* from kinds cross join lateral (
        ${next(sql`and rules_key(j.agent_query_rules) > kinds.key`)}) later
    )
    select j.id, row_number() over (order by ${dispatchOrder}) as turn
    from (select key from kinds where ${able(sql`kinds.rules`)}) k cross join lateral (
      select * from jobs j where ${waits} and rules_key(j.agent_query_rules) = k.key
      order by ${dispatchOrder} limit ${sql.lit(mostJobs)}) j
    order by ${dispatchOrder} limit ${sql.lit(mostJobs)}`
}

/** `alsoJobId`: a job that is not in the queue yet. */
const jobs = (
  { organizationId, queueId }: Queue,
  at: string,
  {
    machines,
    isFair,
    alsoJobId,
  }: { machines: MachinesNow | null; isFair: boolean; alsoJobId: string | null },
) => sql<JobRow>`
  with first as materialized (${first({ organizationId, queueId }, machines, isFair)})
  select j.id, j.agent_query_rules as rules, j.pipeline_id as pipeline, ${stepOf} as step, j.state = 'scheduled' as "isScheduled",
    coalesce(extract(epoch from ${at}::timestamptz - j.runnable_at), 0)::float8 as "waitedSeconds",
    j.is_machine as "isMachine", j.untrusted as "isUntrusted", j.priority, j.share_key as share, l.seconds as mean, s.finish, s.running,
    (row_number() over (order by ${dispatchOrder}))::int as place
  from jobs j left join first on first.id = j.id
  left join queue_shares s on s.queue_id = j.queue_id and s.share_key = j.share_key
  left join queue_job_lengths l on l.queue_id = j.queue_id and l.pipeline_id = j.pipeline_id
  where j.organization_id = ${organizationId} and j.id = any (array(select id from first) || ${alsoJobId}::uuid)
  order by first.turn nulls last, j.id`

interface EndedRow {
  pipeline: string
  step: string
  seconds: number
}

const ended = ({ organizationId, queueId }: Queue, at: string) => sql<EndedRow>`
  select j.pipeline_id as pipeline, ${stepOf} as step, extract(epoch from j.finished_at - j.started_at)::float8 as seconds
  from (
    select * from jobs j
    where j.organization_id = ${organizationId} and j.queue_id = ${queueId} and j.finished_at is not null
      and j.finished_at > ${at}::timestamptz - make_interval(days => ${sql.lit(historyDays)})
    order by j.finished_at desc limit ${sql.lit(mostEnded)}) j
  where j.started_at is not null
  order by j.finished_at desc`

export async function readSettings(db: Db, queue: Queue): Promise<SettingsRow | undefined> {
  const [[found]] = await batch(db, [settings(queue)])
  return found
}

export interface QueueRows {
  agents: AgentRow[]
  jobs: JobRow[]
  ended: EndedRow[]
}

export async function readRows(
  db: Db,
  queue: Queue,
  at: string,
  of: { machines: MachinesNow | null; isFair: boolean; alsoJobId: string | null },
): Promise<QueueRows> {
  const rows = await batch(db, [agents(queue, at), jobs(queue, at, of), ended(queue, at)])
  return { agents: rows[0], jobs: rows[1], ended: rows[2] }
}
