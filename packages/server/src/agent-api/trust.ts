// Whoever opens a pull request from a fork decides what its jobs run, so these get nothing that others could not have.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'
import { forbidden } from '../lib/errors.ts'
import type { RunningJob } from './tokens.ts'

/** A build that such a build triggered, or a repetition of either, is no more to be trusted. */
export async function requireTrust(
  db: Db,
  { organizationId, buildId }: Pick<RunningJob, 'organizationId' | 'buildId'>,
  what: string,
): Promise<void> {
  const { rows } = await sql`
    with recursive line (id, pipeline_id, is_fork, from_trigger, from_rebuild) as (
      select id, pipeline_id, pull_request ->> 'fork' = 'true', triggered_from ->> 'build_id', rebuilt_from ->> 'id'
      from builds where organization_id = ${organizationId} and id = ${buildId}
      union
      select b.id, b.pipeline_id, b.pull_request ->> 'fork' = 'true', b.triggered_from ->> 'build_id',
        b.rebuilt_from ->> 'id'
      from line join builds b on b.organization_id = ${organizationId}
        and b.id in (line.from_trigger::uuid, line.from_rebuild::uuid)
    )
    select from line join pipelines p on p.id = line.pipeline_id
    where line.is_fork and coalesce((p.provider_settings -> 'trust_pull_request_forks')::boolean, false) is false`.execute(
    db,
  )
  if (rows.length === 0) return
  throw forbidden(
    `Builds of pull requests from forks get no ${what}, unless trust_pull_request_forks is on for the pipeline.`,
  )
}
