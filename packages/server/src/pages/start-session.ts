// The end of every way to sign in: an earlier session of the browser ends, a new one begins.
import type { NewSession } from '../auth/sessions.ts'
import { endSession, openSession, sessionCookieSeconds } from '../auth/sessions.ts'
import { writeCookie } from '../http/cookies.ts'
import type { PageInput, Redirect } from './page.ts'

type Identity = NewSession extends infer One
  ? One extends NewSession
    ? Omit<One, 'ip' | 'userAgent' | 'now'>
    : never
  : never

/** `to` is never made of what a visitor sent, unless `localPath` has checked it. */
export async function startSession(
  { ctx, session, visitor }: Pick<PageInput, 'ctx' | 'session' | 'visitor'>,
  identity: Identity,
  to: string,
): Promise<Redirect> {
  if (session !== null) await endSession(ctx.db, session.value)
  const value = await openSession(ctx.db, { ...identity, ...visitor, now: ctx.now() })
  const cookies = [
    writeCookie(ctx.config.url, 'session', value, sessionCookieSeconds),
    writeCookie(ctx.config.url, 'form', '', 0),
  ]
  return { to, cookies }
}
