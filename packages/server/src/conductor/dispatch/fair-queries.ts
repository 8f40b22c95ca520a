// What a claim on a fair queue reads and writes. Its first statement locks the queue's row in fair_queues, so the others see what the
// claims before have written, and none of them waits for another.
import { sql, type RawBuilder } from 'kysely'
import { prepared } from '../../db/statement.ts'
import { assignment, moveAndPublish } from './assign.ts'

export const lockFairQueue = prepared(
  (organizationId: string, queueId: string) => sql<{ virtualTime: number }>`
    select virtual_time as "virtualTime" from fair_queues
    where queue_id = ${queueId} and organization_id = ${organizationId} for update`,
)

interface FairSettings {
  weights: Record<string, number>
  machineLimitPercent: number | null
  /** Counted only where there is a limit. */
  machinesRunning: number
  agents: number
}

/** For queries with `cluster_queues q`. */
const fairSettings: RawBuilder<FairSettings> = sql`
  q.fair_weights as weights, q.machine_limit_percent as "machineLimitPercent",
  case when q.machine_limit_percent is null then 0 else (
    select count(*) from jobs j where j.queue_id = q.id and j.is_machine
      and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')) end::int as "machinesRunning",
  case when q.machine_limit_percent is null then 0 else (
    select count(*) from agents a where a.queue_id = q.id and a.connection_state in ('connected', 'stopping')) end::int as agents`

/** No row: the queue is paused, or not fair any more. */
export const readFairSettings = prepared(
  (organizationId: string, queueId: string) => sql<FairSettings>`
    select ${fairSettings} from cluster_queues q
    where q.id = ${queueId} and q.organization_id = ${organizationId} and q.fair_by <> 'none' and q.dispatch_paused_at is null`,
)

export interface Ended {
  share: string
  pipelineId: string
  charge: number
  /** null: the job was given back, or never started. */
  tookSeconds: number | null
  finish: number | null
  running: number | null
  mean: number | null
}

/** More wait for the next claim. */
const mostEnded = 1000

/** Jobs that were charged and do not run any more. They are charged no longer; the caller saves what follows for their shares. */
export const takeEnded = prepared(
  (organizationId: string, queueId: string) => sql<Ended>`
    with ended as (
      select j.id, j.pipeline_id, j.charged_share, j.charge,
        case when j.finished_at is not null then extract(epoch from j.finished_at - j.started_at)::float8 end as took
      from jobs j
      where j.queue_id = ${queueId} and j.organization_id = ${organizationId} and j.charged_share is not null
        and (j.finished_at is not null or j.state = 'scheduled')
      limit ${sql.lit(mostEnded)} for update skip locked
    ), cleared as (
      update jobs j set charged_share = null, charge = null from ended where j.id = ended.id
    )
    select e.charged_share as share, e.pipeline_id as "pipelineId", e.charge, e.took as "tookSeconds", s.finish, s.running,
      l.seconds as mean
    from ended e
    left join queue_shares s on s.queue_id = ${queueId} and s.share_key = e.charged_share
    left join queue_job_lengths l on l.queue_id = ${queueId} and l.pipeline_id = e.pipeline_id`,
)

export interface FairCandidate {
  id: string
  rules: string[]
  /** The agent of the job that this one retries, where the queue prefers another agent for retries. */
  avoid: string | null
  share: string
  isMachine: boolean
  isUntrusted: boolean
  priority: number
  /** The mean length of the pipeline's jobs in the queue. */
  mean: number | null
  finish: number | null
  running: number | null
}

/** So many of a group's jobs may be locked by other transactions before a claim does not see those behind them. */
const mostLocked = 20

/**
 * Locks the jobs that may come next, in the order of the queue without regard to shares. A group is the jobs of one share with the
 * same rules. The index jobs_by_share finds the first jobs of each group, so the cost depends on the number of groups and not on
 * that of jobs; groups that no agent can run cost nothing, whatever their number.
 */
export const lockFairCandidates = prepared(
  (organizationId: string, queueId: string, abilities: string, most: number) => {
    const waits = sql`j.queue_id = ${queueId} and j.organization_id = ${organizationId} and j.state = 'scheduled'
      and j.share_key is not null`
    const kind = (after: RawBuilder<unknown>) => sql`
      select rules_key(j.agent_query_rules) as key, j.agent_query_rules as rules from jobs j
      where ${waits} ${after} order by rules_key(j.agent_query_rules) limit 1`
    const group = (after: RawBuilder<unknown>) => sql`
      select j.share_key, j.is_machine, j.untrusted, j.priority from jobs j
      where ${waits} and rules_key(j.agent_query_rules) = kinds.key ${after}
      order by j.share_key, j.is_machine, j.untrusted, j.priority desc limit 1`
    return sql<FairCandidate>`
      with recursive kinds as (
        (${kind(sql``)})
        union all
        select later.* from kinds cross join lateral (
          ${kind(sql`and rules_key(j.agent_query_rules) > kinds.key`)}) later
      ), heads as materialized (
        select kinds.key, g.*, s.finish, s.running,
          greatest(s.finish, f.virtual_time) + coalesce(s.running, 0) as starts
        from kinds cross join lateral (
          with recursive groups as (
            (${group(sql``)})
            union all
            select later.* from groups cross join lateral (
              ${group(sql`and (j.share_key, j.is_machine) > (groups.share_key, groups.is_machine)`)}) later
          ) select * from groups) g
        join fair_queues f on f.queue_id = ${queueId}
        left join queue_shares s on s.queue_id = ${queueId} and s.share_key = g.share_key
        where exists (
          select from jsonb_array_elements(${abilities}::jsonb) as able (rules)
          where to_jsonb(kinds.rules) <@ able.rules)
      ), shares as (
        -- A claim of so many jobs takes none of the shares behind so many others.
        select share_key, is_machine,
          row_number() over (partition by is_machine order by min(case when untrusted then 1e10 else 0 end - priority),
            min(starts), min(coalesce(finish, 0)), share_key) as place
        from heads group by share_key, is_machine
      ), best as materialized (
        select first.id from heads h join shares s using (share_key, is_machine) cross join lateral (
          select j.id from jobs j
          where ${waits} and rules_key(j.agent_query_rules) = h.key and j.share_key = h.share_key and j.is_machine = h.is_machine
          order by j.untrusted, j.priority desc, j.scheduled_at, j.position, j.id
          limit ${most}::int + ${sql.lit(mostLocked)}) first
        where s.place <= ${most}::int
      )
      select j.id, j.agent_query_rules as rules, j.share_key as share, j.is_machine as "isMachine", j.untrusted as "isUntrusted",
        j.priority, l.seconds as mean, s.finish, s.running,
        case q.retry_agent_affinity when 'prefer-different' then
          (select source.agent_id from jobs source where source.id = j.retry_source_job_id) end as avoid
      from jobs j join cluster_queues q on q.id = j.queue_id
      left join queue_shares s on s.queue_id = j.queue_id and s.share_key = j.share_key
      left join queue_job_lengths l on l.queue_id = j.queue_id and l.pipeline_id = j.pipeline_id
      where j.id in (select id from best) and ${waits}
      order by j.untrusted, j.priority desc, j.scheduled_at, j.position, j.id
      for update of j skip locked`
  },
)

export interface ChargedPair {
  jobId: string
  agentId: string
  share: string
  charge: number
}

export function assignCharged(pairs: readonly ChargedPair[], at: string, acceptSeconds: number) {
  const columns = [
    pairs.map(({ jobId }) => jobId),
    pairs.map(({ agentId }) => agentId),
    pairs.map(({ share }) => share),
    pairs.map(({ charge }) => charge),
  ] as const
  return assignMany(...columns, at, acceptSeconds)
}

const assignMany = prepared(
  (
    jobIds: string[],
    agentIds: string[],
    shares: string[],
    charges: number[],
    at: string,
    acceptSeconds: number,
  ) => {
    const pairs = sql`unnest(${jobIds}::uuid[], ${agentIds}::uuid[], ${shares}::text[], ${charges}::float8[])
      as p (job_id, agent_id, share, charge)`
    const also = sql`, charged_share = p.share, charge = p.charge`
    return moveAndPublish(at, ['scheduled', 'assigned'], assignment(pairs, at, acceptSeconds, also))
  },
)

export const saveVirtualTime = prepared(
  (organizationId: string, queueId: string, virtualTime: number) => sql`
    update fair_queues set virtual_time = ${virtualTime} where queue_id = ${queueId} and organization_id = ${organizationId}`,
)

export const saveShares = prepared(
  (organizationId: string, queueId: string, keys: string[], finishes: number[], runnings: number[]) => sql`
    insert into queue_shares as s (queue_id, organization_id, share_key, finish, running)
    select ${queueId}, ${organizationId}, n.key, n.finish, n.running
    from unnest(${keys}::text[], ${finishes}::float8[], ${runnings}::float8[]) as n (key, finish, running)
    on conflict (queue_id, share_key) do update set finish = excluded.finish, running = excluded.running`,
)

/** A pipeline may have been deleted since. */
export const saveLengths = prepared(
  (organizationId: string, queueId: string, pipelineIds: string[], means: number[]) => sql`
    insert into queue_job_lengths as l (queue_id, organization_id, pipeline_id, seconds)
    select ${queueId}, ${organizationId}, p.id, n.seconds
    from unnest(${pipelineIds}::uuid[], ${means}::float8[]) as n (id, seconds)
    join pipelines p on p.id = n.id and p.organization_id = ${organizationId}
    on conflict (queue_id, pipeline_id) do update set seconds = excluded.seconds`,
)

const keptSeconds = 86_400

/** A share behind the virtual time that runs nothing is like one that never ran anything. */
export const deleteIdleShares = prepared(
  (organizationId: string, queueId: string, virtualTime: number) => sql`
    delete from queue_shares where queue_id = ${queueId} and organization_id = ${organizationId}
      and running < 0.001 and finish < ${virtualTime}::float8 - ${sql.lit(keptSeconds)}`,
)
