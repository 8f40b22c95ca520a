import { sql } from 'kysely'
import type { Trx } from '../../../db/pool.ts'
import { childQueries } from '../../child-queries.ts'
import type { TeamRole } from '../schema.ts'

export interface TeamMemberRow {
  team_id: string
  user_id: string
  user_name: string
  role: TeamRole
  created_at: string
}

/** A team and the role in it. */
export interface TeamMembership {
  id: string
  role: TeamRole
}

const select = sql`
  select m.team_id, m.user_id, u.name as user_name, m.role, m.created_at
  from team_members m join users u on u.id = m.user_id`

export const {
  get: getInTeam,
  list: listInTeam,
  delete: deleteInTeam,
} = childQueries<TeamMemberRow>({
  table: 'team_members',
  alias: 'm',
  select,
  parent: 'team_id',
  key: 'user_id',
  missing: 'No team member found',
})

/** Until the transaction ends, no other transaction deletes the team. */
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

/** Until the transaction ends, no other transaction removes the member from the organization. */
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

/** False when the user is in the team already. */
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

/** Adds the user to every default team, in the role that the team gives new members. */
export async function insertIntoDefaultTeams(trx: Trx, orgId: string, userId: string): Promise<void> {
  await sql`
    insert into team_members (organization_id, team_id, user_id, role)
    select organization_id, id, ${userId}, default_member_role from teams
    where organization_id = ${orgId} and is_default_team
    for key share
    on conflict do nothing`.execute(trx)
}

/** Skips teams that no longer exist. */
export async function insertIntoTeams(
  trx: Trx,
  orgId: string,
  userId: string,
  memberships: readonly TeamMembership[],
): Promise<void> {
  await sql`
    insert into team_members (organization_id, team_id, user_id, role)
    select t.organization_id, t.id, ${userId}, membership.role
    from unnest(${memberships.map(({ id }) => id)}::uuid[], ${memberships.map(({ role }) => role)}::text[]) as membership (team_id, role)
    join teams t on t.id = membership.team_id
    where t.organization_id = ${orgId}
    for key share of t
    on conflict do nothing`.execute(trx)
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
