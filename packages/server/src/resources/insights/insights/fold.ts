// Counts the jobs that have ended (conductor/insights/job-ends.ts). One statement deletes their rows and adds them to the rollups, so every job
// counts once, whatever is killed. Nothing reads jobs, so a page costs the same whatever their number.
import { sql, type RawBuilder } from 'kysely'
import type { Context } from '../../../context.ts'
import { eachRowApart, mayBeTried } from '../../../db/each-row.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'

const jobsAtOnce = 500
const batchesAtOnce = 20

/** The most that an organization has apart; what exceeds it is counted together. */
export const mostSubjects = { step: 2000, creator: 1000 }
const mostTeams = 20

/** What has no team, no creator or no queue, and the rest of what is not counted apart. */
export const nilId = '00000000-0000-0000-0000-000000000000'

export const hasJobEnds = sql<boolean>`
  exists (select from job_ends e where ${mayBeTried('job_ends', sql`e.organization_id::text`)})`

export async function foldJobEnds(ctx: Context, stopping: AbortSignal): Promise<void> {
  const now = ctx.now().toISOString()
  const { rows } = await sql<{ id: string }>`
    select o.id from organizations o
    where exists (select from job_ends e where e.organization_id = o.id)
      and ${mayBeTried('job_ends', sql`o.id::text`, now)}
    order by o.id`.execute(ctx.db)
  await eachRowApart(
    ctx,
    'job_ends',
    rows,
    ({ id }) => id,
    ({ id }) => foldOrganization(ctx, id, stopping),
  )
}

/** An organization with very many has the rest counted in the next run, so that others wait only briefly. */
async function foldOrganization(ctx: Context, organizationId: string, stopping: AbortSignal): Promise<void> {
  for (let batches = 0; batches < batchesAtOnce && !stopping.aborted; batches++) {
    const counted = await foldSome(ctx.db, organizationId)
    if (counted < jobsAtOnce) return
  }
}

/** Returns how many jobs it has counted. */
const foldSome = (db: Db, organizationId: string): Promise<number> =>
  inTransaction(db, async (trx) => {
    // Two that count jobs of one organization at the same time would wait for each other's rows, in any order.
    await sql`select pg_advisory_xact_lock(hashtextextended('insights ' || ${organizationId}, 0))`.execute(
      trx,
    )
    return fold(trx, organizationId)
  })

async function fold(trx: Trx, organizationId: string): Promise<number> {
  const nil = sql`${nilId}::uuid`
  const { rows } = await sql<{ counted: number }>`
    with taken as (
      delete from job_ends e using (
        select job_id from job_ends where organization_id = ${organizationId} limit ${sql.lit(jobsAtOnce)}
        for update skip locked) chosen
      where e.organization_id = ${organizationId} and e.job_id = chosen.job_id
      returning e.*
    ), facts as (
      select t.*, coalesce(t.queue_id, ${nil}) as queue, md5(t.pipeline_id || chr(31) || t.step)::uuid as step_id,
        round(coalesce(t.run_ms, 0) * t.price_micros / 60000.0)::bigint as cost_micros,
        ${bucketOf(sql`t.wait_ms`)} as wait_bucket, ${bucketOf(sql`t.run_ms`)} as run_bucket
      from taken t
    ), met as (
      select 'step' as dimension, step_id as id, pipeline_id, max(step) as name, max(ended_at) as ended_at
      from facts group by step_id, pipeline_id
      union all
      select 'creator', creator_id, null, null, max(ended_at) from facts where creator_id is not null group by creator_id
    ), known as (
      select dimension, count(*) as count from insight_subjects where organization_id = ${organizationId} group by dimension
    ), fitting as (
      select m.*, s.id is not null or row_number() over (partition by m.dimension, s.id is null order by m.id) + coalesce(k.count, 0)
        <= case m.dimension when 'step' then ${sql.lit(mostSubjects.step)} else ${sql.lit(mostSubjects.creator)} end as fits
      from met m left join known k on k.dimension = m.dimension left join insight_subjects s
        on s.organization_id = ${organizationId} and s.dimension = m.dimension and s.id = m.id
    ), subjects as (
      insert into insight_subjects as s (organization_id, dimension, id, pipeline_id, name, seen_on)
      select ${organizationId}::uuid, dimension, id, pipeline_id, name, (ended_at at time zone 'utc')::date from fitting where fits
      on conflict (organization_id, dimension, id) do update set seen_on = greatest(s.seen_on, excluded.seen_on)
    ), cells as (
      select 'queue' as dimension, ${nil} as subject_id, f.* from facts f
      union all
      select 'team', coalesce(t.team_id, ${nil}), f.* from facts f left join lateral (
        select tp.team_id from team_pipelines tp
        where tp.organization_id = ${organizationId} and tp.pipeline_id = f.pipeline_id
        order by tp.created_at, tp.team_id limit ${sql.lit(mostTeams)}) t on true
      union all
      select 'creator', coalesce(m.id, ${nil}), f.*
      from facts f left join fitting m on m.dimension = 'creator' and m.id = f.creator_id and m.fits
      union all
      select 'step', coalesce(m.id, ${nil}), f.*
      from facts f left join fitting m on m.dimension = 'step' and m.id = f.step_id and m.fits
    ), minutes as (${addTo('minute', organizationId)}), hours as (${addTo('hour', organizationId)}), days as (${addTo('day', organizationId)}
    ), costs as (
      insert into build_costs as r (build_id, organization_id, jobs, run_ms, cost_micros)
      select b.id, ${organizationId}::uuid, sum(f.jobs), sum(f.run_ms), sum(f.cost_micros)
      from (
        select build_id, count(*) as jobs, sum(coalesce(run_ms, 0))::bigint as run_ms, sum(cost_micros)::bigint as cost_micros
        from facts group by build_id) f
      join lateral (
        select id from builds b where b.organization_id = ${organizationId} and b.id = f.build_id for key share) b on true
      group by b.id order by b.id
      on conflict (build_id) do update set jobs = r.jobs + excluded.jobs, run_ms = r.run_ms + excluded.run_ms,
        cost_micros = r.cost_micros + excluded.cost_micros
    )
    select count(*) as counted from taken`.execute(trx)
  return rows[0]?.counted ?? 0
}

/** There are eight to each doubling, from a millisecond on, so that a percentile is wrong by 5 % at most. */
const bucketOf = (ms: RawBuilder<unknown>) =>
  sql`floor(ln(case when ${ms} < 1 then 1 else ${ms} end) / ln(2) * 8)::bigint`

/** The middle of a bucket, in seconds. */
export const secondsOf = (bucket: RawBuilder<unknown>): RawBuilder<number> =>
  sql`round((2 ^ ((${bucket} + 0.5) / 8) / 1000)::numeric, 3)::float8`

export type Unit = 'minute' | 'hour' | 'day'

export const rollups = { minute: 'insight_minutes', hour: 'insight_hours', day: 'insight_days' } as const

const histogramOf = (bucket: string) => {
  const entries = sql`array_agg((${sql.ref(bucket)} << 32) + 1) filter (where ${sql.ref(bucket)} is not null)`
  return sql`coalesce(case when count(*) = 1 then ${entries} else compact_histogram(${entries}) end, '{}')`
}

const addTo = (unit: Unit, organizationId: string) => sql`
  insert into ${sql.table(rollups[unit])} as r
    (organization_id, dimension, starts_at, pipeline_id, queue_id, subject_id, jobs, failures, retries, run_ms, cost_micros,
      waits, runs)
  select ${organizationId}::uuid, dimension, date_trunc(${sql.lit(unit)}, ended_at, 'UTC'), pipeline_id, queue, subject_id, count(*),
    count(*) filter (where has_failed), count(*) filter (where is_retry), coalesce(sum(run_ms), 0), sum(cost_micros),
    ${histogramOf('wait_bucket')}, ${histogramOf('run_bucket')}
  from cells group by 2, 3, 4, 5, 6
  on conflict on constraint ${sql.id(`${rollups[unit]}_pkey`)} do update set
    jobs = r.jobs + excluded.jobs, failures = r.failures + excluded.failures, retries = r.retries + excluded.retries,
    run_ms = r.run_ms + excluded.run_ms, cost_micros = r.cost_micros + excluded.cost_micros,
    waits = compact_histogram(r.waits || excluded.waits), runs = compact_histogram(r.runs || excluded.runs)`
