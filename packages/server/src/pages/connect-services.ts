// Connects a service by OAuth: a person chooses a channel or team, authorizes this installation at the site, and returns with
// a code.
import { isOAuthProvider, oauthProviders, type OAuthProvider } from '../config/outbound.ts'
import type { Context } from '../context.ts'
import { badRequest, notFound, refused, unavailable } from '../lib/errors.ts'
import { OutboundError } from '../lib/outbound.ts'
import {
  authorizationUrl,
  exchangeCode,
  newPending,
  siteOf,
  type Site,
} from '../notifications/delivery/oauth.ts'
import { DeliveryFailed, type Connecting, type Provider } from '../notifications/provider.ts'
import { providers } from '../notifications/providers/table.ts'
import { connectService } from '../resources/notifications/services/connect.ts'
import { html, type Html } from './html.ts'
import { findStart, insertStart, takeStart } from './oauth-starts.ts'
import type { Page } from './page.ts'

const manages = 'manage_notification_services'

const pathOf = (slug: string) => `/organizations/${encodeURIComponent(slug)}/services/connect`

const showConnect: Page = {
  method: 'GET',
  url: '/organizations/:org/services/connect',
  scope: 'write_notification_services',
  permission: manages,
  async handler({ ctx, params, query, formField, enter }) {
    const org = await enter(params['org'] ?? '', manages)
    const known = oauthProviders.flatMap((id) => connectableOf(ctx, id) ?? [])
    const connected = query.get('connected') ?? ''
    const said = isOAuthProvider(connected) ? `${providers[connected].name} is connected.` : null
    return {
      title: `Connect services of ${org.name}`,
      formsTo: known.map(({ site }) => new URL(site.authorizeUrl).origin),
      content: html` ${said === null ? null : html`<p class="said" role="status">${said}</p>`}
      ${known.length === 0 ? nothingToConnect : null}
      ${known.map((one) => connectForm(pathOf(org.slug), one, formField))}`,
    }
  },
}

const beginConnect: Page = {
  method: 'POST',
  url: '/organizations/:org/services/connect/:provider',
  scope: 'write_notification_services',
  permission: manages,
  async handler({ ctx, params, form, session, caller, enter }) {
    const org = await enter(params['org'] ?? '', manages)
    const { provider, site, id } = requireConnectable(ctx, params['provider'])
    const { label } = provider.connecting.choice
    const choice = form.get('choice')?.trim() ?? ''
    if (!/^[^\s\p{Cc}]{1,255}$/u.test(choice)) throw refused(`${label} must be given, without spaces.`)
    const pending = newPending()
    const start = {
      organizationId: org.id,
      userId: caller.user.id,
      sessionId: session.id,
      provider: id,
      choice,
    }
    await insertStart(ctx.db, ctx.keys, start, pending, ctx.now())
    return { to: await authorizationUrl(site, pending) }
  },
}

const finishConnect: Page = {
  method: 'GET',
  url: '/oauth/:provider/callback',
  scope: 'write_notification_services',
  permission: 'token',
  async handler({ ctx, params, query, session, caller, enter }) {
    const { provider, site, id } = requireConnectable(ctx, params['provider'])
    const state = query.get('state') ?? ''
    const key = { state, sessionId: session.id, provider: id }
    const slug = await findStart(ctx.db, key, ctx.now())
    if (slug === null) throw unknownStart
    const org = await enter(slug, manages)
    const start = await takeStart(ctx.db, ctx.keys, key, ctx.now())
    if (start === null) throw unknownStart
    // The site is asked outside any transaction.
    const { settings, grant } = await askSite(async () => {
      const pending = { state, verifier: start.verifier }
      const granted = await exchangeCode(site, ctx.outbound.send, query, pending, ctx.now())
      const siteSession = {
        apiUrl: site.apiUrl,
        send: ctx.outbound.send,
        token: async () => granted.access_token,
      }
      return { grant: granted, settings: await provider.connecting.readSettings(siteSession, start.choice) }
    })
    await connectService({ ctx, org, caller }, provider, { settings, grant })
    return { to: `${pathOf(slug)}?connected=${id}` }
  },
}

const unknownStart = badRequest(
  'Nobody here has begun to connect this, or it took too long, or it was finished before. Begin again.',
)

async function askSite<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof OutboundError) throw unavailable(`${error.message} Begin again.`, error)
    if (error instanceof DeliveryFailed) throw refused(`${error.message} Nothing was connected.`)
    throw error
  }
}

interface Connectable {
  id: OAuthProvider
  provider: Provider & { connecting: Connecting }
  site: Site
}

/** null: the operator has not configured the site. */
function connectableOf(ctx: Context, id: OAuthProvider): Connectable | null {
  const provider = providers[id]
  const { connecting } = provider
  const site = siteOf(ctx.config, id)
  return site === null || connecting === undefined
    ? null
    : { id, provider: { ...provider, connecting }, site }
}

function requireConnectable(ctx: Context, id = ''): Connectable {
  const known = isOAuthProvider(id) ? connectableOf(ctx, id) : null
  if (known === null) throw cannotConnect
  return known
}

const cannotConnect = notFound('There is no such service to connect; the operator has named no site for it.')

const nothingToConnect = html` <p>
  The operator has named no site to connect to. That is done with settings of the server, such as
  <code>MILLRACE_CHAT_WORKSPACE_CLIENT_ID</code>.
</p>`

function connectForm(path: string, { id, provider, site }: Connectable, formField: Html): Html {
  const { label, hint } = provider.connecting.choice
  return html` <h2>${provider.name}</h2>
    <form method="post" action="${path}/${id}">
      ${formField}
      <label for="${id}">${label}</label>
      <input id="${id}" name="choice" placeholder="${hint}" maxlength="255" required />
      <button>Connect at ${new URL(site.authorizeUrl).host}</button>
    </form>`
}

export const connectPages: readonly Page[] = [showConnect, beginConnect, finishConnect]
