import { endSession, endSessionsOf } from '../auth/sessions.ts'
import { writeCookie } from '../http/cookies.ts'
import { html } from './html.ts'
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
    return {
      title: 'Signed out',
      content: html`<p><a class="primary" href="/sign-in">Sign in</a></p>`,
      cookies: [writeCookie(ctx.config.url, 'session', '', 0)],
      script: { does: 'keep', secret: null, to: '/sign-in' },
    }
  },
}

export const signOutPages: readonly Page[] = [signOut]
