// Access tokens that members have given to programs (OAuth), as far as they reach the organization.
import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'

export interface ProgramRow {
  id: string
  program: string
  user_id: string
  user_name: string
  user_email: string
  scopes: string[]
  reaches_others: boolean
  created_at: string
  expires_at: string | null
  last_used_at: string | null
}

const select = sql`
  select t.id, t.program, u.id as user_id, u.name as user_name, u.email as user_email, t.scopes, t.created_at,
    t.organization_ids is null or cardinality(t.organization_ids) > 1 as reaches_others,
    coalesce(t.renewable_until, t.expires_at) as expires_at, t.last_used_at
  from organization_members m join api_access_tokens t on t.user_id = m.user_id join users u on u.id = m.user_id`

/** A token that a program may renew counts until then, also while it has expired. */
const isOf = (orgId: string) => sql`
  m.organization_id = ${orgId} and t.program is not null and t.revoked_at is null
  and (t.expires_at is null or coalesce(t.renewable_until, t.expires_at) > now())
  and (t.organization_ids is null or ${orgId} = any (t.organization_ids))`

/** Newest first. */
export async function listInOrg(
  db: Db,
  orgId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<ProgramRow[]> {
  const { rows } = await sql<ProgramRow>`${select}
    where ${isOf(orgId)} order by t.created_at desc, t.id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

interface HeldProgram extends ProgramRow {
  description: string
  /** The other organizations that it reaches. */
  kept: string[]
}

/** Until the transaction ends, no other one updates the token. */
export async function lockInOrg(trx: Trx, orgId: string, id: string): Promise<HeldProgram> {
  await sql`select from api_access_tokens where id = ${id} for update`.execute(trx)
  const { rows } = await sql<HeldProgram>`
    select found.*, t.description, array(
      select o.organization_id from organization_members o
      where o.user_id = t.user_id and o.organization_id <> ${orgId}
        and (t.organization_ids is null or o.organization_id = any (t.organization_ids))
      order by o.organization_id) as kept
    from (${select} where ${isOf(orgId)} and t.id = ${id}) found join api_access_tokens t on t.id = found.id`.execute(
    trx,
  )
  const [program] = rows
  if (program === undefined) throw notFound('No connected program found')
  return program
}
