// The people of the provider, and the teams that their groups give them.
import { sql } from 'kysely'
import type { Trx } from '../../../db/pool.ts'
import type { TeamRole } from '../schema.ts'

export interface Person {
  id: string
  name: string
  email: string
}

const select = sql`select u.id, u.name, u.email from organization_members m join users u on u.id = m.user_id`

/** The member that this subject of the issuer is. */
export async function findBySubject(
  trx: Trx,
  orgId: string,
  issuer: string,
  subject: string,
): Promise<Person | undefined> {
  const { rows } = await sql<Person>`${select}
    join sso_identities i on i.organization_id = m.organization_id and i.user_id = m.user_id
    where m.organization_id = ${orgId} and i.issuer = ${issuer} and i.subject = ${subject}`.execute(trx)
  return rows[0]
}

/** `is_linked`: whether the member is another subject of the issuer already. */
export async function findByEmail(
  trx: Trx,
  orgId: string,
  issuer: string,
  email: string,
): Promise<(Person & { is_linked: boolean }) | undefined> {
  const { rows } = await sql<Person & { is_linked: boolean }>`
    select member.*, exists (
      select from sso_identities i
      where i.organization_id = ${orgId} and i.issuer = ${issuer} and i.user_id = member.id) as is_linked
    from (${select} where m.organization_id = ${orgId} and lower(u.email) = lower(${email})) as member`.execute(
    trx,
  )
  return rows[0]
}

export async function save(
  trx: Trx,
  row: { organization_id: string; issuer: string; subject: string; user_id: string; last_used_at: string },
): Promise<void> {
  await trx
    .insertInto('sso_identities')
    .values({ ...row, created_at: row.last_used_at })
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'issuer', 'subject'])
        .doUpdateSet({ last_used_at: row.last_used_at }),
    )
    .execute()
}

/** The account of the address, if it has a password or is a member somewhere: then it is not only this organization's. */
export async function findAccount(trx: Trx, email: string): Promise<{ id: string } | undefined> {
  const { rows } = await sql<{ id: string }>`
    select u.id from users u where lower(u.email) = lower(${email}) and (u.password_hash is not null
      or exists (select from organization_members m where m.user_id = u.id)
      or exists (select from api_access_tokens t where t.user_id = u.id and t.revoked_at is null))`.execute(
    trx,
  )
  return rows[0]
}

/** Memberships that somebody has made stay as they are. Returns the new ones. */
export async function insertTeams(
  trx: Trx,
  orgId: string,
  userId: string,
  teamIds: readonly string[],
): Promise<Array<{ team_id: string; role: TeamRole }>> {
  const { rows } = await sql<{ team_id: string; role: TeamRole }>`
    insert into team_members (organization_id, team_id, user_id, role, source)
    select t.organization_id, t.id, ${userId}, t.default_member_role, 'sso' from teams t
    where t.organization_id = ${orgId} and t.id = any (${teamIds}::uuid[])
    for key share
    on conflict do nothing returning team_id, role`.execute(trx)
  return rows
}

/** Deletes the memberships that came from groups, except those in `teamIds`. */
export async function deleteOtherTeams(
  trx: Trx,
  orgId: string,
  userId: string,
  teamIds: readonly string[],
): Promise<Array<{ team_id: string }>> {
  const { rows } = await sql<{ team_id: string }>`
    delete from team_members
    where organization_id = ${orgId} and user_id = ${userId} and source = 'sso'
      and team_id <> all (${teamIds}::uuid[])
    returning team_id`.execute(trx)
  return rows
}
