import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { hasFullAccess, visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { nilId, rollups, secondsOf } from './fold.ts'
import { usualCurrency } from '../../pipelines/pipeline-settings/present.ts'
import type { Window } from './periods.ts'

type Grouping = 'queue' | 'pipeline' | 'team' | 'creator' | 'step'

type Sort =
  | 'cost'
  | 'seconds'
  | 'jobs'
  | 'failures'
  | 'retries'
  | 'wait_p50'
  | 'wait_p95'
  | 'run_p50'
  | 'run_p95'

interface Question {
  groupBy: Grouping
  window: Window
  /** Slugs. */
  pipelines: readonly string[] | undefined
  queueId: string | undefined
  /** Whether the caller may see teams besides their own. */
  viewsTeams: boolean
}

interface Measures {
  jobs: number
  failures: number
  retries: number
  seconds: number
  cost: number
  wait_p50_seconds: number | null
  wait_p95_seconds: number | null
  run_p50_seconds: number | null
  run_p95_seconds: number | null
}

export interface GroupRow extends Measures {
  id: string | null
  name: string | null
  pipeline: { id: string; slug: string; name: string } | null
  cluster_id: string | null
  load: (Record<'waiting' | 'running' | 'connected' | 'busy', number> & { utilization: number | null }) | null
  points: number[][]
}

interface PointRow extends Measures {
  at: string
}

export async function findCurrency(db: Db, orgId: string): Promise<string> {
  const { rows } = await sql<{ currency: string }>`
    select currency from organization_pipeline_settings where organization_id = ${orgId} and currency is not null`.execute(
    db,
  )
  return rows[0]?.currency ?? usualCurrency
}

const nil = sql`${nilId}::uuid`
const money = (micros: RawBuilder<unknown>) => sql`(${micros} / 1000000.0)::float8`

/** In which rollups a grouping is, and the column that it groups by. */
const keys: Readonly<Record<Grouping, { dimension: string; column: string }>> = {
  queue: { dimension: 'queue', column: 'queue_id' },
  pipeline: { dimension: 'queue', column: 'pipeline_id' },
  team: { dimension: 'team', column: 'subject_id' },
  creator: { dimension: 'creator', column: 'subject_id' },
  step: { dimension: 'step', column: 'subject_id' },
}

/** The rollups of the window that the caller may see: those of pipelines that they may read. Deleted ones only with full access. */
export const cellsOf = (
  org: Organization,
  caller: Caller,
  dimension: string,
  { window, pipelines, queueId, groupBy, viewsTeams }: Question,
) => sql`
  select r.* from ${sql.table(rollups[window.unit])} r
  where r.organization_id = ${org.id} and r.dimension = ${dimension}
    and r.starts_at >= ${window.from.toISOString()} and r.starts_at < ${window.to.toISOString()}
    ${queueId === undefined ? sql`` : sql`and r.queue_id = ${queueId}`}
    ${
      hasFullAccess(org) && pipelines === undefined
        ? sql``
        : sql`and r.pipeline_id in (
            select p.id from pipelines p where p.organization_id = ${org.id} and ${visiblePipelines(org, caller)}
              ${pipelines === undefined ? sql`` : sql`and p.slug = any (${pipelines}::text[])`})`
    }
    ${
      groupBy !== 'team' || dimension !== 'team' || viewsTeams
        ? sql``
        : sql`and (r.subject_id = ${nil} or r.subject_id in (
            select own.team_id from team_members own
            where own.organization_id = ${org.id} and own.user_id = ${caller.user.id}))`
    }`

/** The CTE `measured`: for each key of the CTE `cells`, its sums and percentiles. */
const measured = sql`
  entries as (
    select key, true as is_wait, e >> 32 as bucket, e & 4294967295 as count from cells cross join unnest(waits) e
    union all
    select key, false, e >> 32, e & 4294967295 from cells cross join unnest(runs) e
  ), buckets as (
    select key, is_wait, bucket, sum(count) as count from entries group by key, is_wait, bucket
  ), ranked as (
    select key, is_wait, bucket, sum(count) over (partition by key, is_wait order by bucket) as upto,
      sum(count) over (partition by key, is_wait) as total
    from buckets
  ), marks as (
    select key, min(bucket) filter (where is_wait and upto >= total * 0.5) as wait_p50,
      min(bucket) filter (where is_wait and upto >= total * 0.95) as wait_p95,
      min(bucket) filter (where not is_wait and upto >= total * 0.5) as run_p50,
      min(bucket) filter (where not is_wait and upto >= total * 0.95) as run_p95
    from ranked group by key
  ), sums as (
    select key, sum(jobs) as jobs, sum(failures) as failures, sum(retries) as retries, sum(run_ms) as run_ms,
      sum(cost_micros) as cost_micros
    from cells group by key
  ), measured as (select * from sums left join marks using (key))`

/** Of the CTE `measured` as `m`. */
const measures = sql`
  coalesce(m.jobs, 0)::float8 as jobs, coalesce(m.failures, 0)::float8 as failures, coalesce(m.retries, 0)::float8 as retries,
  (coalesce(m.run_ms, 0) / 1000.0)::float8 as seconds, ${money(sql`coalesce(m.cost_micros, 0)`)} as cost,
  ${secondsOf(sql`m.wait_p50`)} as wait_p50_seconds, ${secondsOf(sql`m.wait_p95`)} as wait_p95_seconds,
  ${secondsOf(sql`m.run_p50`)} as run_p50_seconds, ${secondsOf(sql`m.run_p95`)} as run_p95_seconds`

/** No unit begins then. */
const allUnits = '1970-01-01T00:00:00.000Z'

const nothing: Measures = {
  jobs: 0,
  failures: 0,
  retries: 0,
  seconds: 0,
  cost: 0,
  wait_p50_seconds: null,
  wait_p95_seconds: null,
  run_p50_seconds: null,
  run_p95_seconds: null,
}

/** All jobs, and those of each unit. */
export async function findTotals(
  db: Db,
  org: Organization,
  caller: Caller,
  question: Question,
): Promise<Measures & { points: PointRow[] }> {
  const { rows } = await sql<PointRow>`
    with found as (${cellsOf(org, caller, 'queue', question)}),
    cells as (
      select starts_at as key, jobs, failures, retries, run_ms, cost_micros, waits, runs from found
      union all
      select ${allUnits}::timestamptz, jobs, failures, retries, run_ms, cost_micros, waits, runs from found
    ), ${measured}
    select m.key as at, ${measures} from measured m order by m.key`.execute(db)
  const [total, ...points] = rows
  if (total === undefined) return { ...nothing, points: [] }
  const { at: _, ...all } = total
  return { ...all, points }
}

const orders: Readonly<Record<Sort, string>> = {
  cost: 'cost_micros',
  seconds: 'run_ms',
  jobs: 'jobs',
  failures: 'failures',
  retries: 'retries',
  wait_p50: 'wait_p50',
  wait_p95: 'wait_p95',
  run_p50: 'run_p50',
  run_p95: 'run_p95',
}

/** The groups that are highest, from `offset` on. Queues also where no job has ended, if they had agents or jobs. */
export async function listGroups(
  db: Db,
  org: Organization,
  caller: Caller,
  question: Question,
  { sort, limit, offset }: { sort: Sort; limit: number; offset: number },
): Promise<GroupRow[]> {
  const { groupBy, window, queueId, pipelines } = question
  const { dimension, column } = keys[groupBy]
  const { name, pipeline, cluster, join } = named[groupBy]
  const isOfQueue = groupBy === 'queue'
  const wanted = queueId === undefined ? sql`true` : sql`s.queue_id = ${queueId}`
  const others = isOfQueue && pipelines === undefined
  const { rows } = await sql<GroupRow>`
    with cells as (
      select ${sql.ref(column)} as key, starts_at, jobs, failures, retries, run_ms, cost_micros, waits, runs
      from (${cellsOf(org, caller, dimension, question)}) found
    ), ${measured}, loads as (
      select s.queue_id as key, sum(waiting)::float8 / sum(minutes) as waiting, sum(running)::float8 / sum(minutes) as running,
        sum(connected)::float8 / sum(minutes) as connected, sum(busy)::float8 / sum(minutes) as busy,
        sum(busy)::float8 / nullif(sum(connected), 0) as utilization
      from queue_samples s
      where ${sql.lit(isOfQueue)} and s.organization_id = ${org.id} and s.unit = ${window.unit}
        and s.starts_at >= ${window.from.toISOString()} and s.starts_at < ${window.to.toISOString()} and ${wanted}
      group by s.queue_id
    ), shown as (
      select key from sums union select key from loads where ${sql.lit(others)}
    ), units as (
      select key, starts_at, sum(jobs) as jobs, sum(failures) as failures, sum(run_ms) as run_ms, sum(cost_micros) as cost_micros
      from cells group by key, starts_at
    ), chosen as (
      select shown.key from shown left join measured m using (key)
      order by ${sql.ref(`m.${orders[sort]}`)} desc nulls last, m.jobs desc nulls last, shown.key limit ${limit} offset ${offset}
    )
    select nullif(c.key, ${nil}) as id, ${name} as name, ${pipeline} as pipeline, ${cluster} as cluster_id, ${measures},
      case when l.key is not null then json_build_object('waiting', round(l.waiting::numeric, 2),
        'running', round(l.running::numeric, 2), 'connected', round(l.connected::numeric, 2),
        'busy', round(l.busy::numeric, 2), 'utilization', round(l.utilization::numeric, 4)) end as load,
      coalesce((
        select json_agg(json_build_array((extract(epoch from u.starts_at) * 1000)::bigint, u.jobs, u.failures,
          u.run_ms / 1000.0, u.cost_micros / 1000000.0) order by u.starts_at)
        from units u where u.key = c.key), '[]') as points
    from chosen c left join measured m on m.key = c.key left join loads l on l.key = c.key ${join(org.id)}
    order by ${sql.ref(`m.${orders[sort]}`)} desc nulls last, m.jobs desc nulls last, c.key`.execute(db)
  return rows
}

interface Named {
  name: RawBuilder<unknown>
  pipeline: RawBuilder<unknown>
  cluster: RawBuilder<unknown>
  /** For queries with `chosen c`. */
  join(orgId: string): RawBuilder<unknown>
}

const none = sql`null`
const pipelineJson = sql`case when p.id is not null then json_build_object('id', p.id, 'slug', p.slug, 'name', p.name) end`

const named: Readonly<Record<Grouping, Named>> = {
  queue: {
    name: sql`q.key`,
    pipeline: none,
    cluster: sql`q.cluster_id`,
    join: (orgId) => sql`left join cluster_queues q on q.organization_id = ${orgId} and q.id = c.key`,
  },
  pipeline: {
    name: sql`p.name`,
    pipeline: pipelineJson,
    cluster: none,
    join: (orgId) => sql`left join pipelines p on p.organization_id = ${orgId} and p.id = c.key`,
  },
  team: {
    name: sql`t.name`,
    pipeline: none,
    cluster: none,
    join: (orgId) => sql`left join teams t on t.organization_id = ${orgId} and t.id = c.key`,
  },
  creator: {
    name: sql`u.name`,
    pipeline: none,
    cluster: none,
    join: (orgId) => sql`
      left join insight_subjects s on s.organization_id = ${orgId} and s.dimension = 'creator' and s.id = c.key
      left join users u on u.id = s.id`,
  },
  step: {
    name: sql`s.name`,
    pipeline: pipelineJson,
    cluster: none,
    join: (orgId) => sql`
      left join insight_subjects s on s.organization_id = ${orgId} and s.dimension = 'step' and s.id = c.key
      left join pipelines p on p.organization_id = ${orgId} and p.id = s.pipeline_id`,
  },
}
