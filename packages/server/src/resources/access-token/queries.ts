import { sql } from 'kysely'
import type { Db, Trx } from '../../db/pool.ts'

const idleSince = sql`coalesce(t.last_used_at, t.created_at)`

const isValid = sql`t.revoked_at is null and (t.expires_at is null or t.expires_at > now())`

// The organizations a token reaches: those it names, or all, of which its owner is a member.
const reach = sql`
  organization_members m join organizations o on o.id = m.organization_id
  where m.user_id = t.user_id and (t.organization_ids is null or o.id = any (t.organization_ids))`

const isTooIdle = sql`
  coalesce(${idleSince} < now() - make_interval(days => o.revoke_inactive_tokens_after_days), false)`

/** Tokens that have been idle for longer than an organization they reach allows. */
export async function listIdsOfInactive(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select t.id from api_access_tokens t
    where ${isValid} and exists (select from ${reach} and ${isTooIdle})
    order by t.id`.execute(db)
  return rows.map(({ id }) => id)
}

export interface InactiveToken {
  description: string
  last_used_at: string | null
  /** Organizations whose rule it breaks, and the others. */
  lost: string[]
  kept: string[]
}

/** As it is now, and nobody else changes it before the transaction ends; undefined when it is no longer valid. */
export async function lockInactive(trx: Trx, id: string): Promise<InactiveToken | undefined> {
  await sql`select from api_access_tokens where id = ${id} for update`.execute(trx)
  const { rows } = await sql<InactiveToken>`
    select t.description, t.last_used_at,
      array(select o.id from ${reach} and ${isTooIdle} order by o.id) as lost,
      array(select o.id from ${reach} and not ${isTooIdle} order by o.id) as kept
    from api_access_tokens t where t.id = ${id} and ${isValid}`.execute(trx)
  return rows[0]
}

export async function narrow(trx: Trx, id: string, organizationIds: string[]): Promise<void> {
  await trx
    .updateTable('api_access_tokens')
    .set({ organization_ids: organizationIds })
    .where('id', '=', id)
    .execute()
}

/** Undefined when there is no such token, or it has been revoked before. */
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
