import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'

const idleSince = sql`coalesce(t.last_used_at, t.created_at)`

/** A token that a program may renew counts until then, also while it has expired. */
const isValid = sql`
  t.revoked_at is null and (t.expires_at is null or coalesce(t.renewable_until, t.expires_at) > now())`

// The organizations that a token covers: its owner's, limited to those that the token names, if it names any.
const reach = sql`
  organization_members m join organizations o on o.id = m.organization_id
  where m.user_id = t.user_id and (t.organization_ids is null or o.id = any (t.organization_ids))`

const isTooIdle = sql`
  coalesce(${idleSince} < now() - make_interval(days => o.revoke_inactive_tokens_after_days), false)`

/** The valid tokens that have been idle longer than one of their organizations allows. */
export async function listInactiveIds(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from api_access_tokens t
    where ${isValid} and exists (select from ${reach} and ${isTooIdle})
    order by t.id`.execute(db)
  return rows.map(({ id }) => id)
}

interface InactiveToken {
  description: string
  last_used_at: string | null
  /** The organizations that allow no more idle time, and the others. */
  lost: string[]
  kept: string[]
}

/** Undefined when the token is no longer valid. Until the transaction ends, no other transaction updates the token. */
export async function lockInactive(trx: Trx, id: string): Promise<InactiveToken | undefined> {
  await sql`select from api_access_tokens where id = ${id} for update`.execute(trx)
  const { rows } = await sql<InactiveToken>`
    select t.description, t.last_used_at,
      array(select o.id from ${reach} and ${isTooIdle} order by o.id) as lost,
      array(select o.id from ${reach} and not ${isTooIdle} order by o.id) as kept
    from api_access_tokens t where t.id = ${id} and ${isValid}`.execute(trx)
  return rows[0]
}

export async function updateOrganizations(trx: Trx, id: string, organizationIds: string[]): Promise<void> {
  await trx
    .updateTable('api_access_tokens')
    .set({ organization_ids: organizationIds })
    .where('id', '=', id)
    .execute()
}

/** Undefined when there is no such token, or it is revoked already. */
export function revoke(
  trx: Trx,
  id: string,
): Promise<{ user_id: string; description: string; organization_ids: string[] | null } | undefined> {
  return trx
    .updateTable('api_access_tokens')
    .set({ revoked_at: sql<string>`now()` })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning(['user_id', 'description', 'organization_ids'])
    .executeTakeFirst()
}
