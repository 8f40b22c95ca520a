import { sql } from 'kysely'
import type { OpenedWith } from '../../auth/caller.ts'
import { isOfUser } from '../../auth/sessions.ts'
import type { Db } from '../../db/pool.ts'
import { notFound } from '../../lib/errors.ts'

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

/** The valid sessions, last used first. */
export async function listOfUser(
  db: Db,
  userId: string,
  page: { limit: number; offset: number },
): Promise<UserSessionRow[]> {
  const { rows } = await sql<UserSessionRow>`
    select w.id, w.opened_with, w.ip, w.user_agent, w.created_at, w.last_used_at, w.last_used_ip, w.expires_at
    from web_sessions w left join api_access_tokens t on t.id = w.access_token_id
    where ${isOfUser(userId)} and w.expires_at > now()
      and (t.id is null or t.revoked_at is null and (t.expires_at is null or t.expires_at > now()))
    order by coalesce(w.last_used_at, w.created_at) desc, w.id
    limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function deleteOfUser(db: Db, userId: string, id: string): Promise<void> {
  const { numAffectedRows } = await sql`
    delete from web_sessions w where w.id = ${id} and ${isOfUser(userId)}`.execute(db)
  if (numAffectedRows !== 1n) throw notFound('No session found')
}
