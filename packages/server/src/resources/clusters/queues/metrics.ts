import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'

interface QueueMetrics {
  waiting: number
  running: number
  connected: number
  busy: number
  wait_p50_seconds: number | null
  wait_p95_seconds: number | null
  points: Array<[ms: number, waiting: number, busy: number]>
}

/** How many unfinished and how many finished jobs are read, so that no queue takes long. */
const mostJobs = sql.lit(20_000)
const mostPoints = sql.lit(60)
const hour = sql`interval '60 minutes'`
const running = sql`('running', 'timing_out', 'canceling')`

/** The figures of a queue now, and for each of the last 60 minutes how many jobs waited and ran at its end. */
export async function findMetrics(db: Db, orgId: string, queueId: string, now: Date): Promise<QueueMetrics> {
  const at = sql`${now.toISOString()}::timestamptz`
  const minuteOf = (time: string) =>
    sql`greatest(0, ceil(extract(epoch from ${sql.ref(time)} - (${at} - ${hour})) / 60))`
  const { rows } = await sql<QueueMetrics>`
    with open as (
      select runnable_at, started_at, finished_at, state from jobs
      where organization_id = ${orgId} and queue_id = ${queueId} and finished_at is null and runnable_at is not null
      limit ${mostJobs}
    ), ended as (
      select runnable_at, started_at, finished_at, state from jobs
      where organization_id = ${orgId} and queue_id = ${queueId} and finished_at > ${at} - ${hour}
        and runnable_at is not null
      order by finished_at desc limit ${mostJobs}
    ), seen as (
      select runnable_at, started_at, finished_at, coalesce(started_at, finished_at) as left_at
      from (select * from open union all select * from ended) j
    ), changes as (
      select ${minuteOf('runnable_at')} as minute, 1 as waiting, 0 as busy from seen
      union all select ${minuteOf('left_at')}, -1, 0 from seen where left_at is not null
      union all select ${minuteOf('started_at')}, 0, 1 from seen where started_at is not null
      union all select ${minuteOf('finished_at')}, 0, -1 from seen where started_at is not null and finished_at is not null
    ), summed as (
      select minute, sum(waiting) as waiting, sum(busy) as busy from changes group by minute
    ), points as (
      select minute, sum(coalesce(waiting, 0)) over (order by minute) as waiting,
        sum(coalesce(busy, 0)) over (order by minute) as busy
      from generate_series(0, ${mostPoints}) as minute left join summed using (minute)
    ), agents_here as (
      select exists (select from jobs j where j.agent_id = a.id
        and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')) as is_busy
      from agents a
      where a.organization_id = ${orgId} and a.queue_id = ${queueId} and a.connection_state in ('connected', 'stopping')
    ), waits as (
      select percentile_cont(array[0.5, 0.95]) within group (order by extract(epoch from started_at - runnable_at)) as parts
      from seen where started_at > ${at} - ${hour}
    )
    select (
        select count(*)::int from jobs
        where organization_id = ${orgId} and queue_id = ${queueId} and state = 'scheduled') as waiting,
      (select count(*)::int from open where state in ${running}) as running,
      (select count(*)::int from agents_here) as connected,
      (select count(*)::int from agents_here where is_busy) as busy,
      (select round(parts[1]::numeric, 3)::float8 from waits) as wait_p50_seconds,
      (select round(parts[2]::numeric, 3)::float8 from waits) as wait_p95_seconds,
      (select json_agg(json_build_array(
          (extract(epoch from ${at} - ${hour} + minute * interval '1 minute') * 1000)::bigint, waiting, busy) order by minute)
        from points where minute > 0) as points`.execute(db)
  const [metrics] = rows
  if (metrics === undefined) throw new Error('A statement without a table has no row.')
  return metrics
}
