import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import type { Db } from '../../../db/pool.ts'

/** The ids of a user's favorites in the organization. Some may be hidden from the user by now. */
export async function listOfUser(db: Db, orgId: string, userId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select pipeline_id as id from favorites
    where organization_id = ${orgId} and user_id = ${userId}`.execute(db)
  return rows.map(({ id }) => id)
}

type Reached = Pick<Organization, 'id' | 'role' | 'teams_enabled'>

/** The organization, among these, of the pipeline with that id. undefined: the caller may not read the pipeline. */
export async function findOrganization(
  db: Db,
  orgs: readonly Reached[],
  caller: Caller,
  pipelineId: string,
): Promise<string | undefined> {
  if (orgs.length === 0) return undefined
  const isReadable = orgs.map(
    (org) => sql`(p.organization_id = ${org.id} and ${visiblePipelines(org, caller)})`,
  )
  const { rows } = await sql<{ organization_id: string }>`
    select p.organization_id from pipelines p
    where p.id = ${pipelineId} and (${sql.join(isReadable, sql` or `)})`.execute(db)
  return rows[0]?.organization_id
}

/** The caller's favorites in these organizations that the caller may still read, oldest mark first. */
export async function listReadable(db: Db, orgs: readonly Reached[], caller: Caller): Promise<string[]> {
  if (orgs.length === 0) return []
  const isReadable = orgs.map(
    (org) => sql`(f.organization_id = ${org.id} and ${visiblePipelines(org, caller)})`,
  )
  const { rows } = await sql<{ id: string }>`
    select p.id from favorites f join pipelines p on p.organization_id = f.organization_id and p.id = f.pipeline_id
    where f.user_id = ${caller.user.id} and (${sql.join(isReadable, sql` or `)})
    order by f.created_at, p.id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Does nothing if it is there already. */
export async function insert(
  db: Db,
  row: { organization_id: string; user_id: string; pipeline_id: string },
): Promise<void> {
  await db
    .insertInto('favorites')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function deleteOfUser(db: Db, orgId: string, userId: string, pipelineId: string): Promise<void> {
  await db
    .deleteFrom('favorites')
    .where('organization_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('pipeline_id', '=', pipelineId)
    .execute()
}
