import { sql, type RawBuilder } from 'kysely'
import { readableBy } from '../../../auth/pipeline-access.ts'
import { bare, object, word } from '../../../db/json-text.ts'
import type { Db } from '../../../db/pool.ts'
import { prepared } from '../../../db/statement.ts'
import { newestTransaction } from '../../../events/newest.ts'
import { jobsOfSteps, shortBuild, shortJob } from '../graph/short-json.ts'
import { cursorOf, type Cursor } from './cursor.ts'

export type ResourceKind = 'build' | 'job' | 'graph' | 'agent' | 'queue'

/** Something that an event says has changed. */
export interface ChangedResource {
  kind: ResourceKind
  id: string
  organization_id: string
  /** Jobs and graphs only. */
  build_id: string | null
  transaction: number
}

interface Changes {
  /** Up to here. */
  cursor: Cursor
  /** null: too many to read, or some are deleted. */
  resources: ChangedResource[] | null
}

export async function currentCursor(db: Db): Promise<Cursor> {
  const { rows } = await takeSnapshot().execute(db)
  return cursorOf(rows[0]?.snapshot ?? '')
}

const takeSnapshot = prepared(() => sql<{ snapshot: string }>`select pg_current_snapshot()::text as snapshot`)

/** Cheap, since it is called many times a second: it reads the ends of an index. */
export async function hasChanges(db: Db, { end, running }: Cursor): Promise<boolean> {
  const { rows } = await probe(end, running).execute(db)
  return rows[0]?.has ?? false
}

const probe = prepared(
  (end: number, running: readonly number[]) => sql<{ has: boolean }>`
    select coalesce(${newestTransaction(sql`now()`)} >= ${end}, false)
      or exists (select from events where xid = any (${running}::bigint[])) as has`,
)

/** More events than this are not looked through. Their order makes PostgreSQL use the index on `xid`. */
const mostScanned = 50_000

export interface Scope {
  organizationIds: readonly string[]
  /** Jobs and graphs of these builds only. */
  buildIds: readonly string[]
  /** For a cursor that is less than an hour old: now. Then few partitions are read. */
  around?: Date
}

/** Longer than any transaction takes, and than clocks differ. */
const marginMs = 24 * 60 * 60 * 1000

/** What changed in front of the cursor. */
export async function listChanges(
  db: Db,
  { end, running }: Cursor,
  { organizationIds, buildIds, around }: Scope,
  mostResources: number,
): Promise<Changes> {
  const at = (ms: number, none: string) =>
    around === undefined ? none : new Date(around.getTime() + ms).toISOString()
  const times = [at(-marginMs, '-infinity'), at(marginMs, 'infinity')] as const
  const statement = selectChanges(end, running, organizationIds, buildIds, mostResources + 1, ...times)
  const { rows } = await statement.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('A statement that gives one row gave none.')
  const isTooMuch = row.scanned > mostScanned || row.resources.length > mostResources
  const isDeleted = row.horizon !== null && row.horizon >= Math.min(end, ...running)
  return { cursor: cursorOf(row.snapshot), resources: isTooMuch || isDeleted ? null : row.resources }
}

interface SelectedChanges {
  snapshot: string
  /** Events up to this transaction may be deleted. */
  horizon: number | null
  scanned: number
  resources: ChangedResource[]
}

const columns = sql`xid, organization_id, build_id, job_id, kind, data`

const isOnAgent = (state: 'from' | 'to') =>
  sql`coalesce(data ->> ${sql.lit(state)} in ('assigned', 'accepted', 'running', 'timing_out', 'canceling'), false)`

/**
 * A new job may be a retry, which also changes the job that it retries. A job that begins or ends on an agent changes that
 * agent; one that goes back to its queue names the agent in an event of its own.
 */
const selectChanges = prepared(
  (
    end: number,
    running: readonly number[],
    organizationIds: readonly string[],
    buildIds: readonly string[],
    mostResources: number,
    from: string,
    to: string,
  ): RawBuilder<SelectedChanges> => sql<SelectedChanges>`
    with scanned as materialized (
      (select ${columns} from events where xid >= ${end} and created_at > ${from} and created_at < ${to}
        order by xid limit ${sql.lit(mostScanned + 1)})
      union all
      (select ${columns} from events
        where xid = any (${running}::bigint[]) and created_at > ${from} and created_at < ${to}
        order by xid limit ${sql.lit(mostScanned + 1)})
    ), fresh as materialized (
      select * from scanned where organization_id = any (${organizationIds}::uuid[])
    ), watched as materialized (
      select * from fresh where build_id = any (${buildIds}::uuid[])
    ), resources as (
      select 'build' as kind, build_id as id, organization_id, null::uuid as build_id, xid
      from fresh where build_id is not null and kind in ('build.state_changed', 'build.changed')
      union
      select 'graph', build_id, organization_id, build_id, xid from watched where kind = 'build.steps_changed'
      union
      select 'job', job_id, organization_id, build_id, xid from watched where job_id is not null
      union
      select 'job', j.retry_source_job_id, w.organization_id, w.build_id, w.xid
      from watched w join jobs j on j.id = w.job_id
      where w.kind = 'job.state_changed' and w.data ->> 'from' is null and j.retry_source_job_id is not null
      union
      select 'agent', (data ->> 'agent_id')::uuid, organization_id, null, xid
      from fresh where kind like 'agent.%' and data ->> 'agent_id' is not null
      union
      select 'agent', j.agent_id, f.organization_id, null, f.xid
      from (select * from fresh where kind = 'job.state_changed' and ${isOnAgent('from')} <> ${isOnAgent('to')}) f
      join jobs j on j.id = f.job_id where j.agent_id is not null
      union
      select 'queue', (data ->> 'queue_id')::uuid, organization_id, null, xid from fresh where kind = 'queue.changed'
    )
    select pg_current_snapshot()::text as snapshot, (select h.xid from event_horizon h) as horizon, (select count(*) from scanned)::int as scanned, coalesce((
      select json_agg(json_build_object('kind', t.kind, 'id', t.id, 'organization_id', t.organization_id,
        'build_id', t.build_id, 'transaction', t.xid)) from (select * from resources limit ${mostResources}) t), '[]') as resources`,
)

/** The present state of a resource, as JSON text. */
export interface ShownResource {
  id: string
  organization_id: string
  /** null: every member may see it. */
  pipeline_id: string | null
  json: string
  /** Instead, for members who may not read the pipeline. null: nothing. */
  redacted: string | null
}

type Wanted = readonly [organizationIds: readonly string[], ids: readonly string[]]

export async function listBuilds(db: Db, [organizationIds, ids]: Wanted): Promise<ShownResource[]> {
  const { rows } = await sql<ShownResource>`
    select b.id, b.organization_id, b.pipeline_id, ${shortBuild} as json, null as redacted
    from builds b join pipelines p on p.id = b.pipeline_id
    where b.organization_id = any (${organizationIds}::uuid[]) and b.id = any (${ids}::uuid[])`.execute(db)
  return rows
}

export async function listJobs(db: Db, [organizationIds, ids]: Wanted): Promise<ShownResource[]> {
  const json = object({ build_id: word(sql`j.build_id`), job: shortJob })
  const { rows } = await sql<ShownResource>`
    select j.id, j.organization_id, j.pipeline_id, ${json} as json, null as redacted from ${jobsOfSteps}
    where j.organization_id = any (${organizationIds}::uuid[]) and j.id = any (${ids}::uuid[])`.execute(db)
  return rows
}

export async function listGraphs(db: Db, [organizationIds, ids]: Wanted): Promise<ShownResource[]> {
  const { rows } = await sql<ShownResource>`
    select id, organization_id, pipeline_id, ${word(sql`id`)} as json, null as redacted from builds
    where organization_id = any (${organizationIds}::uuid[]) and id = any (${ids}::uuid[])`.execute(db)
  return rows
}

const agentJson = (jobId: RawBuilder<unknown>) =>
  object({
    id: word(sql`a.id`),
    connection_state: word(sql`a.connection_state`),
    paused: bare(sql`a.paused_at is not null`),
    cluster_id: word(sql`a.cluster_id`),
    queue_id: word(sql`a.queue_id`),
    job_id: word(jobId),
  })

export async function listAgents(db: Db, [organizationIds, ids]: Wanted): Promise<ShownResource[]> {
  const { rows } = await sql<ShownResource>`
    select a.id, a.organization_id, j.pipeline_id, ${agentJson(sql`j.id`)} as json,
      ${agentJson(sql`null`)} as redacted
    from agents a left join jobs j on j.agent_id = a.id
      and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')
    where a.organization_id = any (${organizationIds}::uuid[]) and a.id = any (${ids}::uuid[])`.execute(db)
  return rows
}

const queueJson = object({
  id: word(sql`q.id`),
  cluster_id: word(sql`q.cluster_id`),
  dispatch_paused: bare(sql`q.dispatch_paused_at is not null`),
})

export async function listQueues(db: Db, [organizationIds, ids]: Wanted): Promise<ShownResource[]> {
  const { rows } = await sql<ShownResource>`
    select q.id, q.organization_id, null::uuid as pipeline_id, ${queueJson} as json, null as redacted from cluster_queues q
    where q.organization_id = any (${organizationIds}::uuid[]) and q.id = any (${ids}::uuid[])`.execute(db)
  return rows
}

/** Which of the pipelines each user may read. */
export async function listReadable(
  db: Db,
  userIds: readonly string[],
  pipelineIds: readonly string[],
): Promise<Array<{ user_id: string; pipeline_id: string }>> {
  const { rows } = await sql<{ user_id: string; pipeline_id: string }>`
    select u.id as user_id, p.id as pipeline_id
    from unnest(${userIds}::uuid[]) as u (id) cross join pipelines p
    where p.id = any (${pipelineIds}::uuid[]) and ${readableBy(sql`u.id`)}`.execute(db)
  return rows
}
