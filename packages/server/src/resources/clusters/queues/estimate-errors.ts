import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'

interface EstimateErrors {
  jobs: number
  p50_seconds: number | null
  p90_seconds: number | null
}

const days = 7
const mostJobs = 2000

/**
 * How far the first estimates of jobs were from their starts. A job that should have started and has not counts with the error that
 * it has by now.
 */
export async function findEstimateErrors(
  db: Db,
  orgId: string,
  queueId: string,
  now: Date,
): Promise<EstimateErrors> {
  const { rows } = await sql<EstimateErrors>`
    with newest as (
      select job_id, estimated_start_at from job_estimates
      where organization_id = ${orgId} and queue_id = ${queueId}
        and estimated_at > ${now.toISOString()}::timestamptz - make_interval(days => ${sql.lit(days)})
      order by estimated_at desc limit ${sql.lit(mostJobs)}
    ), errors as (
      select abs(extract(epoch from coalesce(j.started_at, ${now.toISOString()}::timestamptz) - n.estimated_start_at)) as seconds
      from newest n join jobs j on j.id = n.job_id and j.organization_id = ${orgId}
      where j.started_at is not null or (j.finished_at is null and n.estimated_start_at < ${now.toISOString()}::timestamptz)
    ), summed as (
      select count(*)::int as jobs, percentile_disc(array[0.5, 0.9]) within group (order by seconds) as parts from errors
    )
    select jobs, round(parts[1]::numeric, 3)::float8 as p50_seconds, round(parts[2]::numeric, 3)::float8 as p90_seconds
    from summed`.execute(db)
  const [errors] = rows
  if (errors === undefined) throw new Error('A statement that counts has one row.')
  return errors
}
