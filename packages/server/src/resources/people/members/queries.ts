import { sql } from 'kysely'
import type { MemberRole } from '../../../auth/caller.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import type { SsoMode } from '../schema.ts'

export interface MemberRow {
  /** The id of the user. */
  id: string
  name: string
  email: string
  role: MemberRole
  sso_mode: SsoMode
}

/** Service accounts are apart. */
const select = sql`
  select u.id, u.name, u.email, m.role, m.sso_mode
  from organization_members m join users u on u.id = m.user_id and not u.is_service_account`

interface MemberFilter {
  email?: string
  role?: string
  /** Part of the name or of the address. */
  q?: string
  /** Only these. */
  id?: readonly string[]
  limit: number
  offset: number
}

export async function listInOrg(
  db: Db,
  orgId: string,
  { email, role, q, id, limit, offset }: MemberFilter,
): Promise<MemberRow[]> {
  const { rows } = await sql<MemberRow>`${select}
    where m.organization_id = ${orgId}
      and (${email ?? null}::text is null or lower(u.email) = lower(${email ?? null}))
      and (${role ?? null}::text is null or m.role = ${role ?? null})
      and (${q ?? null}::text is null
        or position(lower(${q ?? null}) in lower(u.name)) > 0 or position(lower(${q ?? null}) in lower(u.email)) > 0)
      and (${id ?? null}::uuid[] is null or m.user_id = any (${id ?? null}::uuid[]))
    order by m.created_at, m.user_id limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export async function getInOrg(db: Db, orgId: string, userId: string): Promise<MemberRow> {
  const { rows } = await sql<MemberRow>`${select}
    where m.organization_id = ${orgId} and m.user_id = ${userId}`.execute(db)
  const [member] = rows
  if (member === undefined) throw notFound('No member found')
  return member
}

export async function hasOtherAdmin(db: Db, orgId: string, userId: string): Promise<boolean> {
  const { rows } = await sql`${select}
    where m.organization_id = ${orgId} and m.role = 'admin' and m.user_id <> ${userId} limit 1`.execute(db)
  return rows.length > 0
}

export async function updateInOrg(
  trx: Trx,
  orgId: string,
  userId: string,
  change: { role: MemberRole; sso_mode: SsoMode },
): Promise<void> {
  await trx
    .updateTable('organization_members')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('user_id', '=', userId)
    .execute()
}

/** Deletes the user's team memberships and maintainer rows in the organization too. */
export async function deleteInOrg(trx: Trx, orgId: string, userId: string): Promise<void> {
  await trx
    .deleteFrom('organization_members')
    .where('organization_id', '=', orgId)
    .where('user_id', '=', userId)
    .execute()
}
