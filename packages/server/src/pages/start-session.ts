// The end of every way to sign in: an earlier session of the browser ends, a new one begins. The answer is a page whose script keeps
// the page secret; no other answer has it.
import type { NewSession } from '../auth/sessions.ts'
import { endSession, openSession, sessionCookieSeconds } from '../auth/sessions.ts'
import { writeCookie } from '../http/cookies.ts'
import { html } from './html.ts'
import { knownBrowserCookie } from './known-browser.ts'
import type { PageAnswer, PageInput } from './page.ts'

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
): Promise<PageAnswer & { cookies: readonly string[] }> {
  if (session !== null) await endSession(ctx.db, session.value)
  const { value, pageSecret } = await openSession(ctx.db, { ...identity, ...visitor, now: ctx.now() })
  return {
    title: 'Signed in',
    content: html`<noscript
        ><p class="problem" role="alert">The pages of Millrace need JavaScript.</p></noscript
      >
      <p class="problem" role="alert" id="refused" hidden>
        This browser does not let pages of ${new URL(ctx.config.url).host} keep data, so they cannot prove who
        you are. Allow it and sign in again.
      </p>`,
    cookies: [
      writeCookie(ctx.config.url, 'session', value, sessionCookieSeconds),
      writeCookie(ctx.config.url, 'form', '', 0),
      // Providers and tokens say nothing about who knows the password.
      ...(identity.how === 'password' || identity.how === 'link'
        ? [knownBrowserCookie(ctx, identity.userId)]
        : []),
    ],
    script: { does: 'keep', secret: pageSecret, to },
  }
}
