import { sql } from 'kysely'
import type { Trx } from '../../db/pool.ts'
import type { TeamRole } from './schema.ts'

export interface TeamPlace {
  /** The team's. */
  id: string
  role: TeamRole
}

/** New members join every team that is marked as a default one, in the role that team gives. */
export async function joinDefaultTeams(trx: Trx, orgId: string, userId: string): Promise<void> {
  await sql`
    insert into team_members (organization_id, team_id, user_id, role)
    select organization_id, id, ${userId}, default_member_role from teams
    where organization_id = ${orgId} and is_default_team
    for key share
    on conflict do nothing`.execute(trx)
}

/** Teams that no longer exist are passed over. */
export async function joinTeams(
  trx: Trx,
  orgId: string,
  userId: string,
  places: readonly TeamPlace[],
): Promise<void> {
  await sql`
    insert into team_members (organization_id, team_id, user_id, role)
    select t.organization_id, t.id, ${userId}, place.role
    from unnest(${places.map(({ id }) => id)}::uuid[], ${places.map(({ role }) => role)}::text[]) as place (team_id, role)
    join teams t on t.id = place.team_id
    where t.organization_id = ${orgId}
    for key share of t
    on conflict do nothing`.execute(trx)
}

/** The caller has locked the organization, so that nobody leaves or joins meanwhile. */
export async function addEveryone(trx: Trx, orgId: string, teamId: string): Promise<void> {
  await sql`
    insert into team_members (organization_id, team_id, user_id, role)
    select organization_id, ${teamId}, user_id, 'member' from organization_members
    where organization_id = ${orgId}`.execute(trx)
}
