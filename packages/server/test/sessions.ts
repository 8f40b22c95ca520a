// Sessions of people, as headers of a request.
import { hashPassword } from '../src/auth/passwords.ts'
import { openSession, type NewSession } from '../src/auth/sessions.ts'
import { hashToken } from '../src/lib/ids.ts'
import type { TestApp } from './app.ts'

type How =
  | { how: 'password' | 'link' }
  | { how: 'sso'; organizationId: string }
  | { how: 'token'; accessTokenId: string }

/** What a page of ours sends: the cookie, which any program on the host may get, and the secret, which only the page has. */
export interface SessionHeaders extends Record<string, string> {
  Cookie: string
  'X-Millrace-Page': string
}

export async function aSession(
  app: TestApp,
  user: { id: string },
  given: How & Partial<Pick<NewSession, 'ip' | 'userAgent' | 'now'>> = { how: 'password' },
): Promise<SessionHeaders> {
  const { value, pageSecret } = await openSession(app.db, {
    userId: user.id,
    ip: '127.0.0.1',
    userAgent: 'a browser',
    now: app.ctx.now(),
    ...given,
  })
  return { Cookie: `millrace_session=${value}`, 'X-Millrace-Page': pageSecret }
}

export async function sessionId(app: TestApp, user: { id: string }): Promise<string> {
  const { Cookie } = await aSession(app, user)
  const { id } = await app.db
    .selectFrom('web_sessions')
    .select('id')
    .where('token_hash', '=', hashToken(Cookie.split('=')[1] ?? ''))
    .executeTakeFirstOrThrow()
  return id
}

/** A password is hashed as a server hashes it. */
export async function withPassword(app: TestApp, user: { id: string }, password: string): Promise<void> {
  const passwordHash = await hashPassword(password)
  await app.db.updateTable('users').set({ password_hash: passwordHash }).where('id', '=', user.id).execute()
}
