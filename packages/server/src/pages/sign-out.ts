import { flushTokenCaches } from '../auth/access-watch.ts'
import { endSession } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import { writeCookie } from '../http/cookies.ts'
import { html } from './html.ts'
import { deleteAllOfCaller } from '../resources/people/sessions/queries.ts'
import type { Page, Session } from './page.ts'

const signOut: Page = {
  method: 'POST',
  url: '/sign-out',
  permission: 'anonymous',
  async handler({ ctx, session, form }) {
    if (session !== null) {
      if (form.get('everywhere') === 'yes') await endEverywhere(ctx, session)
      await endSession(ctx.db, session.value)
    }
    return {
      title: 'Signed out',
      content: html`<p><a class="primary" href="/sign-in">Sign in</a></p>`,
      cookies: [writeCookie(ctx.config.url, 'session', '', 0)],
      script: { does: 'keep', secret: null, to: '/sign-in' },
    }
  },
}

/** As `DELETE /v2/user/sessions`: what a token or a provider has opened ends no session that reaches more. */
async function endEverywhere(ctx: Context, session: Session): Promise<void> {
  const { user, scopes, organizationIds } = session
  if (!scopes.includes('write_user')) return
  await deleteAllOfCaller(ctx.db, { user, token: { organization_ids: organizationIds }, session })
  await flushTokenCaches(ctx.db)
}

export const signOutPages: readonly Page[] = [signOut]
