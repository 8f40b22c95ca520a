import { sql } from 'kysely'
import type { MemberRole } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'

export interface ServiceAccountRow {
  id: string
  name: string
  email: string
  description: string
  role: MemberRole
  owners: Array<{ id: string; name: string; email: string }>
  created_at: string
}

const select = sql`
  select a.id, u.name, u.email, a.description, m.role, a.created_at,
    coalesce((
      select json_agg(json_build_object('id', p.id, 'name', p.name, 'email', p.email) order by p.name, p.id)
      from service_account_owners o join users p on p.id = o.user_id
      where o.service_account_id = a.id and o.organization_id = a.organization_id), '[]') as owners
  from service_accounts a join users u on u.id = a.id
  join organization_members m on m.organization_id = a.organization_id and m.user_id = a.id`

export async function listInOrg(
  db: Db,
  orgId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<ServiceAccountRow[]> {
  const { rows } = await sql<ServiceAccountRow>`${select}
    where a.organization_id = ${orgId} order by a.created_at, a.id limit ${limit} offset ${offset}`.execute(
    db,
  )
  return rows
}

export async function getInOrg(db: Db, orgId: string, id: string): Promise<ServiceAccountRow> {
  const { rows } = await sql<ServiceAccountRow>`${select}
    where a.organization_id = ${orgId} and a.id = ${id}`.execute(db)
  const [account] = rows
  if (account === undefined) throw notFound('No service account found')
  return account
}

/** Like `getInOrg`, and until the transaction ends no other one updates or deletes the account. */
export async function lockInOrg(trx: Trx, orgId: string, id: string): Promise<ServiceAccountRow> {
  await sql`
    select from service_accounts where organization_id = ${orgId} and id = ${id} for update`.execute(trx)
  return getInOrg(trx, orgId, id)
}

export async function insert(
  trx: Trx,
  orgId: string,
  account: { id: string; name: string; email: string; description: string; role: MemberRole },
): Promise<void> {
  const { id, name, email, description, role } = account
  await trx.insertInto('users').values({ id, email, name, is_service_account: true }).execute()
  await trx.insertInto('organization_members').values({ organization_id: orgId, user_id: id, role }).execute()
  await trx.insertInto('service_accounts').values({ id, organization_id: orgId, description }).execute()
}

export async function update(
  trx: Trx,
  orgId: string,
  account: { id: string; name: string; description: string; role: MemberRole },
): Promise<void> {
  const { id, name, description, role } = account
  await sql`
    update service_accounts set description = ${description}
    where organization_id = ${orgId} and id = ${id}`.execute(trx)
  await sql`
    update organization_members set role = ${role} where organization_id = ${orgId} and user_id = ${id}`.execute(
    trx,
  )
  await sql`update users set name = ${name} where id = ${id} and is_service_account`.execute(trx)
}

/** Replaces the owners. False: one of them is no person of the organization. */
export async function replaceOwners(
  trx: Trx,
  orgId: string,
  id: string,
  userIds: readonly string[],
): Promise<boolean> {
  const wanted = [...new Set(userIds)]
  await sql`
    delete from service_account_owners where organization_id = ${orgId} and service_account_id = ${id}`.execute(
    trx,
  )
  const { numAffectedRows } = await sql`
    insert into service_account_owners (organization_id, service_account_id, user_id)
    select m.organization_id, ${id}, m.user_id
    from organization_members m join users u on u.id = m.user_id
    where m.organization_id = ${orgId} and m.user_id = any (${wanted}::uuid[]) and not u.is_service_account
    for key share of m`.execute(trx)
  return numAffectedRows === BigInt(wanted.length)
}

/** Ends the membership; teams, owners and the account go with it. The tokens are revoked. The user stays, for builds. */
export async function deleteInOrg(trx: Trx, orgId: string, id: string): Promise<void> {
  await revokeTokens(trx, orgId, id)
  await sql`
    delete from organization_members where organization_id = ${orgId} and user_id = ${id}`.execute(trx)
}

export async function revokeTokens(trx: Trx, orgId: string, id: string): Promise<void> {
  await sql`
    update api_access_tokens t set revoked_at = now() from service_accounts a
    where a.organization_id = ${orgId} and a.id = ${id} and t.user_id = a.id and t.revoked_at is null`.execute(
    trx,
  )
}
