import { sql, type RawBuilder } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'
import { isPreflight } from '../../../db/preflight.ts'

export interface WatchedPipeline {
  name: string
  slug: string
  created_at: string
  is_building: boolean
  /** The newest build that passed or failed; null: there is none. */
  last: { number: number; state: 'passed' | 'failed'; ended_at: string } | null
}

/** Archived ones are not watched. In the order of their names. */
export const listVisible = (
  db: Db,
  org: Organization,
  caller: Caller,
  { branch, limit }: { branch: string | undefined; limit: number },
): Promise<WatchedPipeline[]> =>
  select(db, org.id, branch, sql`p.archived_at is null and ${visiblePipelines(org, caller)}`, limit)

/** Does not check access: the permission of the route has. */
export const listById = (
  db: Db,
  orgId: string,
  pipelineId: string,
  branch: string | undefined,
): Promise<WatchedPipeline[]> => select(db, orgId, branch, sql`p.id = ${pipelineId}`, 1)

/** A blocked build counts as its block says, as on badges. */
async function select(
  db: Db,
  orgId: string,
  branch: string | undefined,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<WatchedPipeline[]> {
  const ofPipeline = sql`b.organization_id = p.organization_id and b.pipeline_id = p.id and not ${isPreflight}
    and (${branch ?? null}::text is null or b.branch = ${branch ?? null})`
  const { rows } = await sql<WatchedPipeline>`
    select p.name, p.slug, p.created_at, to_json(ended) as last,
      exists (select from builds b where ${ofPipeline} and b.state in ('running', 'failing', 'canceling')) as is_building
    from (
      select * from pipelines p where p.organization_id = ${orgId} and ${condition}
      order by p.name, p.id limit ${limit}
    ) p
    left join lateral (
      select b.number, b.shown_state as state, coalesce(b.finished_at, b.created_at) as ended_at
      from builds b where ${ofPipeline} and b.shown_state in ('passed', 'failed')
      order by b.created_at desc, b.id desc limit 1
    ) ended on true
    order by p.name, p.id`.execute(db)
  return rows
}
