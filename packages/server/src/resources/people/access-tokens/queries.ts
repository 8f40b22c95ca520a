import { sql } from 'kysely'
import type { Caller, MemberRole } from '../../../auth/caller.ts'
import type { Db } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'

export interface UserTokenRow {
  id: string
  description: string
  scopes: string[]
  organization_slugs: string[] | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  last_used_ip: string | null
  program: string | null
  is_machine: boolean
}

const select = sql`
  select t.id, t.description, t.scopes, t.created_at, coalesce(t.renewable_until, t.expires_at) as expires_at, t.last_used_at, t.last_used_ip, t.program, t.is_machine,
    case when t.organization_ids is not null then
      array(select o.slug from organizations o where o.id = any (t.organization_ids) order by o.slug)
    end as organization_slugs
  from api_access_tokens t`

/** The caller's valid tokens, and those that programs may renew. A token for some organizations sees only those that reach no others. */
const isSeenBy = ({ user, token }: Caller) => sql`
  t.user_id = ${user.id} and t.revoked_at is null
  and (t.expires_at is null or coalesce(t.renewable_until, t.expires_at) > now())
  and (${token.organization_ids}::uuid[] is null or t.organization_ids <@ ${token.organization_ids}::uuid[])`

/** Newest first. */
export async function listOfCaller(
  db: Db,
  caller: Caller,
  page: { limit: number; offset: number },
): Promise<UserTokenRow[]> {
  const { rows } = await sql<UserTokenRow>`${select}
    where ${isSeenBy(caller)} order by t.created_at desc, t.id desc
    limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getOfCaller(db: Db, caller: Caller, id: string): Promise<UserTokenRow> {
  const { rows } = await sql<UserTokenRow>`${select} where ${isSeenBy(caller)} and t.id = ${id}`.execute(db)
  const [token] = rows
  if (token === undefined) throw notFound('No access token found')
  return token
}

export interface TokenOrganization {
  slug: string
  role: MemberRole
  restricts_tokens: boolean
  /** The organization requires single sign-on of the caller, and the session has not passed it. */
  sso_missing: boolean
}

/** The organizations that the caller reaches. */
export async function listOrganizations(
  db: Db,
  { user, token, session }: Caller,
): Promise<TokenOrganization[]> {
  const judged = session === null || session.opened_with === 'token' ? null : session.id
  const { rows } = await sql<TokenOrganization>`
    select o.slug, m.role, o.restrict_user_api_token_creation as restricts_tokens,
      ${judged}::uuid is not null and exists (
        select from organization_sso s
        where s.organization_id = o.id and s.is_enabled and (s.is_required or m.sso_mode = 'required'))
      and not exists (
        select from web_session_sso p where p.organization_id = o.id and p.session_id = ${judged}) as sso_missing
    from organization_members m join organizations o on o.id = m.organization_id
    where m.user_id = ${user.id}
      and (${token.organization_ids}::uuid[] is null or o.id = any (${token.organization_ids}::uuid[]))
    order by o.slug`.execute(db)
  return rows
}
