import { sql } from 'kysely'
import type { BuildState } from '@millrace/engine/states.ts'
import type { Db } from '../db/pool.ts'
import type { Target } from './queries.ts'

export interface CheckedBuild {
  id: string
  number: number
  state: BuildState
  /** The number of an unfinished build that repeats this one. */
  rebuilt_as: number | null
}

/** Builds of the commit, or of a pull request with it as its head. */
export async function listBuilds(
  db: Db,
  { id, organization_id }: Target,
  commit: string,
  ids: readonly string[],
): Promise<CheckedBuild[]> {
  const { rows } = await sql<CheckedBuild>`
    select b.id, b.number, b.state,
      (select max(r.number) from builds r
        where r.organization_id = ${organization_id} and r.pipeline_id = ${id} and r.number > b.number
          and r.rebuilt_from ->> 'id' = b.id::text
          and r.state in ('creating', 'scheduled', 'running', 'failing', 'blocked')) as rebuilt_as
    from builds b
    where b.organization_id = ${organization_id} and b.pipeline_id = ${id} and b.id = any (${ids}::uuid[])
      and coalesce(b.pull_request ->> 'head', b.commit) = ${commit}
    order by b.number`.execute(db)
  return rows
}

/** The builds that have published this check of the commit; `name` null: all checks of it. */
export async function listPublishers(
  db: Db,
  { id, organization_id }: Target,
  commit: string,
  name: string | null,
): Promise<string[]> {
  const { rows } = await sql<{ build_id: string }>`
    select distinct s.build_id from commit_statuses s
    where s.organization_id = ${organization_id} and s.pipeline_id = ${id} and s.commit = ${commit}
      and s.build_id is not null
      and (${name}::text is null and s.context like 'check: %' or s.context = 'check: ' || ${name})
    limit 10`.execute(db)
  return rows.map(({ build_id }) => build_id)
}
