// Sessions of people. A browser holds a session's value in a cookie, and its page secret where only pages of this origin read it
// (see http/session-cookie.ts). Only the hashes of both are stored.
import { sql } from 'kysely'
import type { LoopContext } from '../db/each-row.ts'
import type { Db, Trx } from '../db/pool.ts'
import { hashToken, newId, newToken } from '../lib/ids.ts'
import { flushTokenCaches } from './access-watch.ts'
import type { CallerSession } from './caller.ts'
import { trackUse, type UseTracker } from './track-use.ts'

const sessionDays = 14
const prolongAfterHours = 1

/** The server decides when a session ends, so the cookie only has to outlive it. Browsers cap cookies at 400 days. */
export const sessionCookieSeconds = 400 * 86_400

export type NewSession = {
  userId: string
  ip: string
  userAgent: string | null
  now: Date
} & (
  | { how: 'password' | 'link' }
  /** The organization whose single sign-on the user passed. */
  | { how: 'sso'; organizationId: string }
  /** The session has the token's scopes, organizations and address ranges, and ends with the token. */
  | { how: 'token'; accessTokenId: string }
)

interface OpenedSession {
  /** For the browser's cookie. */
  value: string
  /** For the page that ends the sign-in. No other answer has it. */
  pageSecret: string
}

export async function openSession(db: Db, session: NewSession): Promise<OpenedSession> {
  const value = newToken('mrws_')
  const pageSecret = newToken('mrps_')
  const { now, ip } = session
  await db
    .insertInto('web_sessions')
    .values({
      id: newId(),
      token_hash: hashToken(value),
      page_secret_hash: hashToken(pageSecret),
      user_id: session.userId,
      opened_with: session.how,
      access_token_id: session.how === 'token' ? session.accessTokenId : null,
      organization_id: session.how === 'sso' ? session.organizationId : null,
      ip,
      user_agent: session.userAgent,
      created_at: now.toISOString(),
      last_used_at: now.toISOString(),
      last_used_ip: ip,
      expires_at: new Date(now.getTime() + sessionDays * 86_400_000).toISOString(),
    })
    .execute()
  if (session.how === 'sso') await recordSso(db, value, session.organizationId, now)
  return { value, pageSecret }
}

/** The session has passed the single sign-on of the organization. */
export async function recordSso(db: Db, value: string, organizationId: string, now: Date): Promise<void> {
  await sql`
    insert into web_session_sso (session_id, organization_id, signed_in_at)
    select id, ${organizationId}, ${now.toISOString()} from web_sessions where token_hash = ${hashToken(value)}
    on conflict (session_id, organization_id) do update set signed_in_at = excluded.signed_in_at`.execute(db)
}

/** Returns when no server has the session cached. Not for use inside a transaction. */
export async function endSession(db: Db, value: string): Promise<void> {
  await db.deleteFrom('web_sessions').where('token_hash', '=', hashToken(value)).execute()
  await flushTokenCaches(db)
}

/** All but one. To be followed by `flushTokenCaches`. Sessions of the previous release name their user only by the token. */
export async function endSessionsIn(trx: Trx, userId: string, keptId: string | null): Promise<void> {
  await sql`
    delete from web_sessions w
    where ${isOfUser(userId)} and (${keptId}::uuid is null or w.id <> ${keptId})`.execute(trx)
}

/** For queries with `web_sessions w`. */
export const isOfUser = (userId: string) => sql<boolean>`
  (w.user_id = ${userId} or w.user_id is null and exists (
    select from api_access_tokens t where t.id = w.access_token_id and t.user_id = ${userId}))`

const freshMs = 3_600_000

/** Whether the person has just come by a sign-in link, and so may set a password without knowing the old one. */
export const isFreshLink = (session: Pick<CallerSession, 'opened_with' | 'created_at'>, now: Date): boolean =>
  session.opened_with === 'link' && now.getTime() - Date.parse(session.created_at) < freshMs

/** Records the use of sessions, and prolongs each at most once an hour. */
export const trackSessionUse = (ctx: LoopContext, onError: (error: unknown) => void): UseTracker =>
  trackUse(
    ctx,
    'session_use',
    async ({ ids, ips, times }) => {
      await sql`
        update web_sessions w set last_used_at = u.at, last_used_ip = u.ip,
          expires_at = case
            when w.expires_at < u.at + make_interval(days => ${sessionDays}, hours => ${-prolongAfterHours})
            then u.at + make_interval(days => ${sessionDays}) else w.expires_at end
        from unnest(${ids}::uuid[], ${ips}::text[], ${times}::timestamptz[]) as u (id, ip, at)
        where w.id = u.id and w.expires_at > u.at and (w.last_used_at is null or w.last_used_at < u.at)`.execute(
        ctx.db,
      )
    },
    onError,
  )
