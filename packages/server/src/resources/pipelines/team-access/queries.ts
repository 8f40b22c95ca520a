import { sql } from 'kysely'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import type { AccessLevel } from './schema.ts'

/** The ids of the teams that have the pipeline. */
export async function listTeamIds(db: Db, orgId: string, pipelineId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select team_id as id from team_pipelines
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}`.execute(db)
  return rows.map(({ id }) => id)
}

export interface HeldTeam {
  id: string
  /** Whether the caller is in it and it lets its members create pipelines. */
  lets_create: boolean
}

/** The given teams that the caller may see. Until the transaction ends, no other transaction deletes them. */
export async function holdTeams(
  trx: Trx,
  org: Organization,
  caller: Caller,
  ids: readonly string[],
): Promise<HeldTeam[]> {
  const { rows } = await sql<HeldTeam>`
    select t.id, t.members_can_create_pipelines and exists (
        select from team_members m where m.team_id = t.id and m.user_id = ${caller.user.id}) as lets_create
    from teams t
    where t.organization_id = ${org.id} and t.id = any (${ids}::uuid[]) and ${teamIsVisible(org, caller)}
    order by t.id for key share of t`.execute(trx)
  return rows
}

/** False when the team has the pipeline already. */
export async function insert(
  trx: Trx,
  row: { organization_id: string; team_id: string; pipeline_id: string; access_level: AccessLevel },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('team_pipelines')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** False when there is no such row, or it has the level already. */
export async function updateLevel(
  trx: Trx,
  orgId: string,
  teamId: string,
  pipelineId: string,
  level: AccessLevel,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('team_pipelines')
    .set({ access_level: level })
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('pipeline_id', '=', pipelineId)
    .where('access_level', '!=', level)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** False when there is no such row. */
export async function deleteInTeam(
  trx: Trx,
  orgId: string,
  teamId: string,
  pipelineId: string,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('team_pipelines')
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('pipeline_id', '=', pipelineId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
