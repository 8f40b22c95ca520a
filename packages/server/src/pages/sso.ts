// Signs people in at the provider of their organization. The first page leads to the provider only by a link with a code for
// this browser, so that another site cannot sign a visitor in as somebody else.
import { randomBytes } from 'node:crypto'
import { flushTokenCaches } from '../auth/access-watch.ts'
import { recordSso } from '../auth/sessions.ts'
import type { Context } from '../context.ts'
import { writeCookie } from '../http/cookies.ts'
import { badRequest, forbidden, notFound } from '../lib/errors.ts'
import { isStorable } from '../lib/unstorable.ts'
import { redirectUri } from '../resources/people/sso/present.ts'
import {
  authorizationUrl,
  exchangeCode,
  newPending,
  type Provider,
} from '../resources/people/sso/provider.ts'
import { findOfSlug, type SsoOrganization, type SsoRow } from '../resources/people/sso/queries.ts'
import { readClaims } from '../resources/people/sso/rules.ts'
import { signInPerson, trySignIn, type Refusal } from '../resources/people/sso/sign-in.ts'
import { html, type Html } from './html.ts'
import { localPath, type Page, type PageAnswer, type PageInput, type Redirect } from './page.ts'
import { insertStart, takeStart } from './sso-starts.ts'
import { testedSso } from './sso-test-answer.ts'
import { startSession } from './start-session.ts'

/** For the sign-in page. */
export const ssoForm = (next: string | null): Html =>
  html`<form method="get" action="/-/sso">
    <input type="hidden" name="next" value="${next ?? ''}" />
    <label for="organization">Organization</label>
    <input
      id="organization"
      name="organization"
      placeholder="acme"
      maxlength="255"
      spellcheck="false"
      required
    />
    <button>Continue</button>
  </form>`

const chooseOrganization: Page = {
  method: 'GET',
  url: '/-/sso',
  permission: 'anonymous',
  async handler({ ctx, query }) {
    const slug = query.get('organization')?.trim().toLowerCase() ?? ''
    const next = localPath(ctx.config.url, query.get('next'))
    return { to: slug === '' ? withNext('/sign-in', next) : withNext(pathOf(slug), next) }
  },
}

const showSso: Page = {
  method: 'GET',
  url: '/-/sso/:org',
  permission: 'anonymous',
  async handler({ ctx, params, query, cookie }) {
    const { org, sso } = await requireSso(ctx, params)
    const next = localPath(ctx.config.url, query.get('next'))
    const browser = cookie('sso') ?? randomBytes(24).toString('hex')
    const code = ctx.keys.sign('sso', `${browser} ${org.id}`).toString('hex')
    const to = withNext(`${pathOf(org.slug)}/start?code=${code}`, next)
    return {
      title: `Sign in to ${org.name}`,
      cookies: [writeCookie(ctx.config.url, 'sso', browser, 3600)],
      content: html`<p><a class="primary" href="${to}">Continue at ${new URL(sso.issuer).host}</a></p>
        <p class="note">Or <a href="${withNext('/sign-in', next)}">sign in another way</a>.</p>`,
    }
  },
}

const startSso: Page = {
  method: 'GET',
  url: '/-/sso/:org/start',
  permission: 'anonymous',
  async handler({ ctx, params, query, cookie, visitor }) {
    const { org, sso } = await requireSso(ctx, params)
    const next = localPath(ctx.config.url, query.get('next'))
    const browser = cookie('sso')
    const code = Buffer.from(query.get('code') ?? '', 'hex')
    if (browser === null || !ctx.keys.verify('sso', `${browser} ${org.id}`, code)) {
      return { to: withNext(pathOf(org.slug), next) }
    }
    await ctx.signInLimits.begin(visitor.ip)
    const pending = await newPending()
    const to = await authorizationUrl(providerOf(ctx, org, sso), ctx.outbound.send, pending)
    const start = { organizationId: org.id, browser, next, isTest: false }
    await insertStart(ctx.db, ctx.keys, start, pending, ctx.now())
    return { to }
  },
}

/** Before single sign-on admits anybody, an administrator sees what it would do. */
const testSso: Page = {
  method: 'GET',
  url: '/-/sso/:org/test',
  scope: 'write_organization_settings',
  permission: 'admin',
  async handler({ ctx, params, cookie, visitor, enter }) {
    const { id } = await enter(params['org'] ?? '', 'admin')
    const { org, sso } = await requireOfSlug(ctx, params)
    await ctx.signInLimits.begin(visitor.ip)
    const browser = cookie('sso') ?? randomBytes(24).toString('hex')
    const pending = await newPending()
    const to = await authorizationUrl(providerOf(ctx, org, sso), ctx.outbound.send, pending)
    const start = { organizationId: id, browser, next: null, isTest: true }
    await insertStart(ctx.db, ctx.keys, start, pending, ctx.now())
    return { to, cookies: [writeCookie(ctx.config.url, 'sso', browser, 3600)] }
  },
}

const finishSso: Page = {
  method: 'GET',
  url: '/-/sso/:org/callback',
  permission: 'anonymous',
  async handler(input) {
    const { ctx, params, query, cookie, visitor } = input
    const { org, sso } = await requireOfSlug(ctx, params)
    const key = { organizationId: org.id, browser: cookie('sso') ?? '', state: query.get('state') ?? '' }
    const start = await takeStart(ctx.db, ctx.keys, key, ctx.now())
    if (start?.isTest !== true && !sso.is_enabled) throw noSso
    if (start === null) throw unknownStart
    await ctx.signInLimits.finish(visitor.ip)
    // The provider is asked outside any transaction.
    const claims = await exchangeCode(providerOf(ctx, org, sso), ctx.outbound.send, query, start.pending)
    const read = readClaims(claims, sso.groups_claim)
    if (start.isTest) {
      const tried = await trySignIn(ctx, { org, sso }, read, visitor, wholeAccount(input.session))
      return testedSso(org, sso, read, 'refusal' in tried ? refusals[tried.refusal](org.name) : tried)
    }
    const found = await signInPerson(ctx, { org, sso }, read, visitor, wholeAccount(input.session))
    if ('refusal' in found) throw forbidden(refusals[found.refusal](org.name))
    return openOrExtend(input, org, found.userId, start.next)
  },
}

const unknownStart = badRequest(
  'This browser has not begun to sign in, or it took longer than ten minutes, or it was finished before. Begin again.',
)

const refusals: Record<Refusal, (organization: string) => string> = {
  no_email: () => 'The provider does not tell your e-mail address, so nobody here can be found by it.',
  unverified: (organization) =>
    `The provider has not verified your e-mail address. Ask an administrator of ${organization}.`,
  other_person: (organization) =>
    `Your e-mail address belongs to a member who is another person at the provider. Ask an administrator of ${organization}.`,
  uninvited: (organization) =>
    `You are not a member of ${organization} yet. Ask an administrator for an invitation.`,
  has_account: (organization) =>
    `There is an account with your e-mail address here, and its owner decides to join ${organization}. Sign in to it with its password or a sign-in link, then begin again.`,
}

/** A provider or a limited token signs in to a part of an account only. */
const wholeAccount = (session: PageInput['session']): string | null =>
  session !== null && session.organizationIds === null && session.scopes.includes('write_user')
    ? session.user.id
    : null

/** A session of the same person goes on, and reaches the organization too. One of another person ends. */
async function openOrExtend(
  input: PageInput,
  org: SsoOrganization,
  userId: string,
  next: string | null,
): Promise<PageAnswer | Redirect> {
  const { ctx, session } = input
  const to = next ?? `/${encodeURIComponent(org.slug)}`
  const withoutSso = writeCookie(ctx.config.url, 'sso', '', 0)
  if (session?.user.id === userId) {
    await recordSso(ctx.db, session.value, org.id, ctx.now())
    await flushTokenCaches(ctx.db)
    return { to, cookies: [withoutSso] }
  }
  const opened = await startSession(input, { how: 'sso', organizationId: org.id, userId }, to)
  return { ...opened, cookies: [...opened.cookies, withoutSso] }
}

const pathOf = (slug: string) => `/-/sso/${encodeURIComponent(slug)}`

const withNext = (path: string, next: string | null) =>
  next === null ? path : `${path}${path.includes('?') ? '&' : '?'}next=${encodeURIComponent(next)}`

async function requireSso(
  ctx: Context,
  params: PageInput['params'],
): Promise<{ org: SsoOrganization; sso: SsoRow }> {
  const found = await requireOfSlug(ctx, params)
  if (!found.sso.is_enabled) throw noSso
  return found
}

/** Enabled or not. */
async function requireOfSlug(
  ctx: Context,
  params: PageInput['params'],
): Promise<{ org: SsoOrganization; sso: SsoRow }> {
  const slug = params['org'] ?? ''
  const found = isStorable(slug) ? await findOfSlug(ctx.db, slug) : undefined
  if (found === undefined) throw noSso
  return found
}

const noSso = notFound('There is no organization with single sign-on at this address.')

const providerOf = (ctx: Context, org: SsoOrganization, sso: SsoRow): Provider => ({
  issuer: sso.issuer,
  clientId: sso.client_id,
  clientSecret: ctx.keys.open(sso.client_secret_sealed, sso.client_secret_key_id),
  scopes: sso.scopes,
  redirectUri: redirectUri(ctx.config.url, org.slug),
  groupsClaim: sso.groups_claim,
})

export const ssoPages: readonly Page[] = [chooseOrganization, showSso, startSso, testSso, finishSso]
