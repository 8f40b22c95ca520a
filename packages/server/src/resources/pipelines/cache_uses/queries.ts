import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'

export interface UsesRow {
  /** Its start. */
  day: string
  hits: number
  misses: number
}

const keptDays = 90

/** Counts that a job asked for a cache. Days that are long ago go with it, so a pipeline has few rows. */
export async function countUse(
  db: Db,
  orgId: string,
  pipelineId: string,
  { isHit, at }: { isHit: boolean; at: Date },
): Promise<void> {
  const day = `${at.toISOString().slice(0, 10)}T00:00:00Z`
  const [hits, misses] = isHit ? [1, 0] : [0, 1]
  await sql`
    with gone as (
      delete from step_cache_uses
      where organization_id = ${orgId} and pipeline_id = ${pipelineId} and day < ${day}::timestamptz - make_interval(days => ${keptDays}))
    insert into step_cache_uses as u (organization_id, pipeline_id, day, hits, misses)
    values (${orgId}, ${pipelineId}, ${day}, ${hits}, ${misses})
    on conflict (pipeline_id, day) do update set hits = u.hits + excluded.hits, misses = u.misses + excluded.misses`.execute(
    db,
  )
}

/** Newest first. A day on which no job asked has no row. */
export async function listOfPipeline(
  db: Db,
  orgId: string,
  pipelineId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<UsesRow[]> {
  const { rows } = await sql<UsesRow>`
    select day, hits, misses from step_cache_uses
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}
    order by day desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}
