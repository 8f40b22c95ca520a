import { sql } from 'kysely'
import type { Caller, OpenedWith } from '../../../auth/caller.ts'
import { isOfUser } from '../../../auth/sessions.ts'
import type { Db } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'

export interface UserSessionRow {
  id: string
  opened_with: OpenedWith
  ip: string | null
  user_agent: string | null
  created_at: string
  last_used_at: string | null
  last_used_ip: string | null
  expires_at: string
}

/** Who asks, and which organizations the token or session reaches. */
interface Reaching {
  user: { id: string }
  token: Pick<Caller['token'], 'organization_ids'>
  session: { id: string } | null
}

/**
 * The caller's sessions. A caller who reaches only some organizations sees only sessions that reach no others: the provider of
 * one organization must not end, or learn of, sign-ins to another.
 */
const isSeenBy = ({ user, token, session }: Reaching) => sql<boolean>`
  (${isOfUser(user.id)} and (${token.organization_ids}::uuid[] is null or w.id = ${session?.id ?? null}
    or w.opened_with = 'sso' and not exists (
      select from web_session_sso p
      where p.session_id = w.id and p.organization_id <> all (${token.organization_ids}::uuid[]))
    or exists (
      select from api_access_tokens o
      where o.id = w.access_token_id and o.organization_ids <@ ${token.organization_ids}::uuid[])))`

/** The valid sessions, last used first. */
export async function listOfCaller(
  db: Db,
  caller: Caller,
  page: { limit: number; offset: number },
): Promise<UserSessionRow[]> {
  const { rows } = await sql<UserSessionRow>`
    select w.id, w.opened_with, w.ip, w.user_agent, w.created_at, w.last_used_at, w.last_used_ip, w.expires_at
    from web_sessions w left join api_access_tokens t on t.id = w.access_token_id
    where ${isSeenBy(caller)} and w.expires_at > now()
      and (t.id is null or t.revoked_at is null and (t.expires_at is null or t.expires_at > now()))
    order by coalesce(w.last_used_at, w.created_at) desc, w.id
    limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function deleteOfCaller(db: Db, caller: Caller, id: string): Promise<void> {
  const { numAffectedRows } = await sql`
    delete from web_sessions w where w.id = ${id} and ${isSeenBy(caller)}`.execute(db)
  if (numAffectedRows !== 1n) throw notFound('No session found')
}

export async function deleteAllOfCaller(db: Db, caller: Reaching): Promise<void> {
  await sql`delete from web_sessions w where ${isSeenBy(caller)}`.execute(db)
}
