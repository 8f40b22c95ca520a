import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { nilId, secondsOf } from '../insights/fold.ts'
import { cellsOf } from '../insights/queries.ts'

interface SlowerRow {
  id: string
  name: string
  pipeline: { id: string; slug: string; name: string } | null
  jobs: number
  run_p50_seconds: number
  usual_seconds: number
  spread_seconds: number
  change: number
}

const dayMs = 24 * 60 * 60 * 1000
const weekDays = 7
const usualDays = 28

/** With fewer, a median says little. */
const fewestJobs = 10
const fewestDays = 5

/**
 * The steps whose median of the last 7 days exceeds the usual one by more than the usual spread, by more than a tenth, and by more
 * than a second. The usual one is the median of the medians of each day of the 28 days before; the spread is three times their
 * median distance from it, so that a single bad day changes neither. Those that cost the most time come first.
 */
export async function listSlower(
  db: Db,
  org: Organization,
  caller: Caller,
  now: Date,
  { limit, offset }: { limit: number; offset: number },
): Promise<SlowerRow[]> {
  const to = new Date((Math.floor(now.getTime() / dayMs) + 1) * dayMs)
  const weekFrom = new Date(to.getTime() - weekDays * dayMs)
  const from = new Date(weekFrom.getTime() - usualDays * dayMs)
  const window = { unit: 'day', unitMs: dayMs, from, to } as const
  const question = {
    groupBy: 'step',
    window,
    pipelines: undefined,
    queueId: undefined,
    viewsTeams: true,
  } as const
  const { rows } = await sql<SlowerRow>`
    with entries as (
      select c.subject_id, case when c.starts_at < ${weekFrom.toISOString()} then c.starts_at else 'infinity' end as day,
        e >> 32 as bucket, sum(e & 4294967295) as count
      from (${cellsOf(org, caller, 'step', question)}) c cross join unnest(c.runs) e
      where c.subject_id <> ${nilId}
      group by 1, 2, 3
    ), ranked as (
      select *, sum(count) over (partition by subject_id, day order by bucket) as upto,
        sum(count) over (partition by subject_id, day) as total
      from entries
    ), medians as (
      select subject_id, day, max(total) as jobs, ${secondsOf(sql`min(bucket) filter (where upto >= total * 0.5)`)} as seconds
      from ranked group by subject_id, day
    ), usual as (
      select subject_id, percentile_cont(0.5) within group (order by seconds) as seconds
      from medians where day <> 'infinity' group by subject_id having count(*) >= ${sql.lit(fewestDays)}
    ), spreads as (
      select u.subject_id, u.seconds as usual,
        3 * percentile_cont(0.5) within group (order by abs(m.seconds - u.seconds)) as spread
      from usual u join medians m on m.subject_id = u.subject_id and m.day <> 'infinity'
      group by u.subject_id, u.seconds
    )
    select s.id, coalesce(s.name, '') as name,
      case when p.id is not null then json_build_object('id', p.id, 'slug', p.slug, 'name', p.name) end as pipeline,
      m.jobs::float8 as jobs, m.seconds as run_p50_seconds, round(d.usual::numeric, 3)::float8 as usual_seconds,
      round(d.spread::numeric, 3)::float8 as spread_seconds, round((m.seconds / d.usual - 1)::numeric, 4)::float8 as change
    from medians m join spreads d on d.subject_id = m.subject_id
    join insight_subjects s on s.organization_id = ${org.id} and s.dimension = 'step' and s.id = m.subject_id
    left join pipelines p on p.organization_id = ${org.id} and p.id = s.pipeline_id
    where m.day = 'infinity' and m.jobs >= ${sql.lit(fewestJobs)}
      and m.seconds - d.usual > greatest(d.spread, d.usual * 0.1, 1)
    order by (m.seconds - d.usual) * m.jobs desc, s.id limit ${limit} offset ${offset}`.execute(db)
  return rows
}
