import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'

export interface ServiceAccountTokenRow {
  id: string
  description: string
  scopes: string[]
  created_at: string
  expires_at: string
  last_used_at: string | null
  last_used_ip: string | null
}

const select = sql`
  select t.id, t.description, t.scopes, t.created_at, t.expires_at, t.last_used_at, t.last_used_ip
  from api_access_tokens t join service_accounts a on a.id = t.user_id`

const isValid = sql`t.revoked_at is null and t.expires_at > now()`

/** The valid tokens, newest first. */
export async function listOfAccount(
  db: Db,
  orgId: string,
  accountId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<ServiceAccountTokenRow[]> {
  const { rows } = await sql<ServiceAccountTokenRow>`${select}
    where a.organization_id = ${orgId} and a.id = ${accountId} and ${isValid}
    order by t.created_at desc, t.id desc limit ${limit} offset ${offset}`.execute(db)
  return rows
}

export async function getOfAccount(
  db: Db,
  orgId: string,
  accountId: string,
  id: string,
): Promise<ServiceAccountTokenRow> {
  const { rows } = await sql<ServiceAccountTokenRow>`${select}
    where a.organization_id = ${orgId} and a.id = ${accountId} and t.id = ${id} and ${isValid}`.execute(db)
  const [token] = rows
  if (token === undefined) throw notFound('No access token found')
  return token
}

/** In the organization only administrators create tokens. */
export async function restrictsTokens(db: Db, orgId: string): Promise<boolean> {
  const { restrict_user_api_token_creation: restricts } = await db
    .selectFrom('organizations')
    .select('restrict_user_api_token_creation')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  return restricts
}
