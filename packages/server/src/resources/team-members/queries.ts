import { sql } from 'kysely'
import type { Db, Trx } from '../../db/pool.ts'
import type { TeamRole } from '../teams/schema.ts'

export interface TeamMemberRow {
  team_id: string
  user_id: string
  user_name: string
  role: TeamRole
  created_at: string
}

const select = sql`
  select m.team_id, m.user_id, u.name as user_name, m.role, m.created_at
  from team_members m join users u on u.id = m.user_id`

export async function listInTeam(
  db: Db,
  orgId: string,
  teamId: string,
  page: { limit: number; offset: number },
): Promise<TeamMemberRow[]> {
  const { rows } = await sql<TeamMemberRow>`${select}
    where m.organization_id = ${orgId} and m.team_id = ${teamId}
    order by m.created_at, m.user_id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function findInTeam(
  db: Db,
  orgId: string,
  teamId: string,
  userId: string,
): Promise<TeamMemberRow | undefined> {
  const { rows } = await sql<TeamMemberRow>`${select}
    where m.organization_id = ${orgId} and m.team_id = ${teamId} and m.user_id = ${userId}`.execute(db)
  return rows[0]
}

/** The team, which cannot be deleted until the transaction ends. */
export async function holdTeam(
  trx: Trx,
  orgId: string,
  teamId: string,
): Promise<{ id: string; default_member_role: TeamRole } | undefined> {
  const { rows } = await sql<{ id: string; default_member_role: TeamRole }>`
    select id, default_member_role from teams
    where organization_id = ${orgId} and id = ${teamId} for key share`.execute(trx)
  return rows[0]
}

/** The member of the organization, who cannot be removed until the transaction ends. */
export async function holdMember(
  trx: Trx,
  orgId: string,
  userId: string,
): Promise<{ id: string } | undefined> {
  const { rows } = await sql<{ id: string }>`
    select user_id as id from organization_members
    where organization_id = ${orgId} and user_id = ${userId} for key share`.execute(trx)
  return rows[0]
}

/** Whether they were not in the team before. */
export async function insert(
  trx: Trx,
  row: { organization_id: string; team_id: string; user_id: string; role: TeamRole },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('team_members')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

export async function updateRole(
  trx: Trx,
  orgId: string,
  teamId: string,
  userId: string,
  role: TeamRole,
): Promise<void> {
  await trx
    .updateTable('team_members')
    .set({ role })
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .execute()
}

/** Whether they were in the team. */
export async function deleteInTeam(
  trx: Trx,
  orgId: string,
  teamId: string,
  userId: string,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('team_members')
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
