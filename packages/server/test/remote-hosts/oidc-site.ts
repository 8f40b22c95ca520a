// An OpenID Connect provider over real HTTP, on the loopback address: oidc-provider with pages that sign a person in without
// asking for a password.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export interface OidcPerson {
  email?: string
  email_verified?: boolean
  name?: string
  groups?: readonly string[] | string
}

interface OidcSite {
  issuer: string
  client: { client_id: string; client_secret: string }
  /** By subject. */
  people: Map<string, OidcPerson>
  /** Whether it answers at all. */
  isUp: boolean
  /** The URL that the person is redirected to after signing in. */
  signIn(authorizeUrl: string, subject: string): Promise<URL>
  close(): Promise<void>
}

export async function anOidcSite(redirectUris: readonly string[]): Promise<OidcSite> {
  const client = { client_id: 'millrace', client_secret: `secret-${randomUUID()}` }
  const people = new Map<string, OidcPerson>()
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: [...redirectUris] }],
    cookies: { keys: [randomUUID()] },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'profile', 'email', 'groups'],
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 600,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
    findAccount: (_, accountId) =>
      people.has(accountId)
        ? { accountId, claims: () => ({ sub: accountId, ...people.get(accountId) }) }
        : undefined,
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid profile email groups')
      await grant.save()
      return grant
    },
  })
  const subjects = new Map<string, string>()
  const site: OidcSite = {
    issuer,
    client,
    people,
    isUp: true,
    async signIn(authorizeUrl, subject) {
      const browser = followRedirects()
      const visit = randomUUID()
      subjects.set(visit, subject)
      return browser(authorizeUrl, visit)
    },
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections()
        server.close(() => closed())
      }),
  }
  const handle = provider.callback()
  server.on('request', (request, response) => {
    if (!site.isUp) return void response.destroy()
    // The same metadata at a second address.
    request.url = request.url?.replace(/^\/alias\//, '/') ?? '/'
    if (!request.url.startsWith('/interaction/')) return void handle(request, response)
    const accountId = subjects.get(String(request.headers['x-visit'])) ?? ''
    const failed = () => void response.destroy()
    return void provider.interactionFinished(request, response, { login: { accountId } }).catch(failed)
  })
  return site
}

/** A browser that follows redirects until they leave the site. */
function followRedirects(): (url: string, visit: string) => Promise<URL> {
  const cookies = new Map<string, string>()
  return async (start, visit) => {
    const { origin } = new URL(start)
    let url = new URL(start)
    for (let redirects = 0; redirects < 10; redirects++) {
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { 'X-Visit': visit, Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      const location = response.headers.get('location')
      if (location === null) throw new Error(`No redirect: ${response.status} ${await response.text()}`)
      url = new URL(location, url)
      if (url.origin !== origin) return url
    }
    throw new Error('Too many redirects')
  }
}
