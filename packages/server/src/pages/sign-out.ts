import { endSession, endSessionsOf } from '../auth/sessions.ts'
import { writeCookie } from '../http/cookies.ts'
import type { Page } from './page.ts'

const signOut: Page = {
  method: 'POST',
  url: '/sign-out',
  permission: 'anonymous',
  async handler({ ctx, session, form }) {
    if (session !== null) {
      await (form.get('everywhere') === 'yes'
        ? endSessionsOf(ctx.db, session.user.id)
        : endSession(ctx.db, session.value))
    }
    return { to: '/sign-in', cookies: [writeCookie(ctx.config.url, 'session', '', 0)] }
  },
}

export const signOutPages: readonly Page[] = [signOut]
