// Exchanges an access token for a session, so that no page contains the token.
import { endSession, openSession, sessionCookieSeconds } from '../auth/sessions.ts'
import type { FoundToken } from '../auth/find-tokens.ts'
import type { Context } from '../context.ts'
import { isInRanges } from '../lib/ip-ranges.ts'
import { listMemberships } from './memberships.ts'
import { writeCookie } from '../http/cookies.ts'
import { html, type Html } from './html.ts'
import { ssoForm } from './sso.ts'
import { localPath, type Page, type PageAnswer, type PageInput, type Session } from './page.ts'

const showSignIn: Page = {
  method: 'GET',
  url: '/sign-in',
  permission: 'anonymous',
  async handler({ ctx, query, formField, session }) {
    const next = localPath(ctx.config.url, query.get('next'))
    return session === null ? signInForm(formField, next, null) : whereTo(ctx, session, formField)
  },
}

const signIn: Page = {
  method: 'POST',
  url: '/sign-in',
  permission: 'anonymous',
  async handler(input) {
    const { ctx, form, formField, session, visitor } = input
    const next = localPath(ctx.config.url, form.get('next'))
    const token = await findToken(input)
    if (token === null || token.id === null) {
      const problem = 'That is not a valid access token, or it may not be used from here.'
      return { ...signInForm(formField, next, problem), status: 422 }
    }
    // An earlier session ends.
    if (session !== null) await endSession(ctx.db, session.value)
    const value = await openSession(ctx.db, {
      how: 'token',
      accessTokenId: token.id,
      userId: token.user.id,
      ...visitor,
      now: ctx.now(),
    })
    ctx.tokenUse.record(token.id, visitor.ip)
    return {
      to: next ?? '/sign-in',
      cookies: [writeCookie(ctx.config.url, 'session', value, sessionCookieSeconds), withoutForm(ctx)],
    }
  },
}

const signOut: Page = {
  method: 'POST',
  url: '/sign-out',
  permission: 'anonymous',
  async handler({ ctx, session }) {
    if (session !== null) await endSession(ctx.db, session.value)
    return { to: '/sign-in', cookies: [writeCookie(ctx.config.url, 'session', '', 0)] }
  },
}

const withoutForm = (ctx: Context) => writeCookie(ctx.config.url, 'form', '', 0)

async function findToken({ ctx, form, visitor }: PageInput): Promise<FoundToken | null> {
  const given = form.get('token')?.trim() ?? ''
  if (!/^[\x21-\x7e]{1,500}$/.test(given)) return null
  const found = await ctx.tokens.find(given, null)
  const ranges = found?.allowed_ip_addresses ?? null
  return found !== null && (ranges === null || isInRanges(visitor.ip, ranges)) ? found : null
}

function signInForm(formField: Html, next: string | null, problem: string | null): PageAnswer {
  return {
    title: 'Sign in',
    content: html` <p>Use an access token of yours, such as the one that the first start printed.</p>
      ${problem === null ? null : html`<p role="alert"><strong>${problem}</strong></p>`}
      <form method="post" action="/sign-in">
        ${formField}
        <input type="hidden" name="next" value="${next ?? ''}" />
        <label for="token">Access token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="off"
          spellcheck="false"
          required
          autofocus
        />
        <button>Sign in</button>
      </form>
      ${ssoForm(next)}`,
  }
}

async function whereTo(ctx: Context, session: Session, formField: Html): Promise<PageAnswer> {
  const organizations = await listMemberships(ctx.db, session)
  const links = organizations.map(
    ({ slug, name }) =>
      html`<li>
        <a href="/organizations/${encodeURIComponent(slug)}/services/connect">Connect services of ${name}</a>
      </li>`,
  )
  return {
    title: `Signed in as ${session.user.name}`,
    content: html` <ul>
        ${links}
      </ul>
      <p class="note">Everything else is in the <a href="/docs">API</a>.</p>
      <form method="post" action="/sign-out">${formField}<button>Sign out</button></form>`,
  }
}

export const signInPages: readonly Page[] = [showSignIn, signIn, signOut]
