// Sessions of people, as headers of a request.
import { openSession, type NewSession } from '../src/auth/sessions.ts'
import type { TestApp } from './app.ts'

type How =
  | { how: 'password' | 'link' }
  | { how: 'sso'; organizationId: string }
  | { how: 'token'; accessTokenId: string }

/** The cookie alone, which a browser adds to requests of any site. */
export async function aSession(
  app: TestApp,
  user: { id: string },
  given: How & Partial<Pick<NewSession, 'ip' | 'userAgent' | 'now'>> = { how: 'password' },
): Promise<{ Cookie: string }> {
  const value = await openSession(app.db, {
    userId: user.id,
    ip: '127.0.0.1',
    userAgent: 'a browser',
    now: app.ctx.now(),
    ...given,
  })
  return { Cookie: `millrace_session=${value}` }
}

/** What a page of ours adds to its requests. */
export const fromPage = { 'X-Millrace-Page': '1' }
