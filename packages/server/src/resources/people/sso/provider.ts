// OpenID Connect with the provider of an organization: authorization code with PKCE, state and nonce. The requests of
// openid-client go through lib/outbound.ts.
import type * as oidc from 'openid-client'
import { badRequest, refused, unavailable } from '../../../lib/errors.ts'
import { OutboundError, type OutboundClient } from '../../../lib/outbound.ts'

/** A provider and the client that an organization has there. */
export interface Provider {
  issuer: string
  clientId: string
  clientSecret: string
  scopes: readonly string[]
  /** Exactly as it is registered at the provider. */
  redirectUri: string
  groupsClaim: string
}

/** Stored between the redirect to the provider and the callback. */
export interface Pending {
  state: string
  nonce: string
  verifier: string
}

type Send = OutboundClient['send']
type Client = typeof oidc

/** The first sign-in loads the library, so that the start does not take longer. */
const load = (): Promise<Client> => import('openid-client')

export async function newPending(): Promise<Pending> {
  const client = await load()
  return {
    state: client.randomState(),
    nonce: client.randomNonce(),
    verifier: client.randomPKCECodeVerifier(),
  }
}

export const authorizationUrl = (provider: Provider, send: Send, pending: Pending): Promise<string> =>
  asking(async (client) => {
    const config = await discover(client, provider, send)
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: provider.redirectUri,
      scope: provider.scopes.join(' '),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    })
    return url.href
  })

/** The claims about the person who has come back with `query`, as the provider has signed them. */
export const exchangeCode = (
  provider: Provider,
  send: Send,
  query: URLSearchParams,
  pending: Pending,
): Promise<Record<string, unknown>> =>
  asking(async (client) => {
    const config = await discover(client, provider, send)
    const returned = new URL(`${provider.redirectUri}?${query.toString()}`)
    const tokens = await client.authorizationCodeGrant(config, returned, {
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      pkceCodeVerifier: pending.verifier,
      idTokenExpected: true,
    })
    const claims = tokens.claims() ?? { sub: '' }
    const { userinfo_endpoint: endpoint } = config.serverMetadata()
    const isComplete = ['email', 'email_verified', provider.groupsClaim].every((name) => name in claims)
    if (isComplete || endpoint === undefined) return claims
    return merged(claims, await client.fetchUserInfo(config, tokens.access_token, claims.sub))
  })

/** What the ID token says counts. `email_verified` belongs to the address beside it. */
function merged(
  claims: Readonly<Record<string, unknown>>,
  { email_verified: isVerified, ...more }: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const isSameAddress = claims['email'] === undefined || claims['email'] === more['email']
  return { ...more, ...(isSameAddress ? { email_verified: isVerified } : {}), ...claims }
}

const timeoutSeconds = 15

async function discover(client: Client, provider: Provider, send: Send): Promise<oidc.Configuration> {
  const isPlain = provider.issuer.startsWith('http:')
  const config = await client.discovery(
    new URL(provider.issuer),
    provider.clientId,
    undefined,
    authenticate(client, provider.clientSecret),
    {
      // The signature of the ID token is checked too.
      execute: [client.enableNonRepudiationChecks, ...(isPlain ? [client.allowInsecureRequests] : [])],
      [client.customFetch]: through(send),
      timeout: timeoutSeconds,
    },
  )
  // The library makes exceptions, such as issuers that stand for all customers of a provider. Any of those could sign in here.
  if (new URL(config.serverMetadata().issuer).href !== new URL(provider.issuer).href) {
    throw badRequest('The provider calls itself by another issuer than the settings of single sign-on.')
  }
  return config
}

/** Providers that do not say how clients authenticate take the Authorization header. */
function authenticate(client: Client, secret: string): oidc.ClientAuth {
  return (server, ...args) => {
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server
    const method = methods.includes('client_secret_basic')
      ? client.ClientSecretBasic
      : client.ClientSecretPost
    return method(secret)(server, ...args)
  }
}

/** Keys and metadata of large providers are longer than the answers of webhooks. */
const mostBytes = 512 * 1024

const through =
  (send: Send): oidc.CustomFetch =>
  async (url, { method, headers, body }) => {
    const answer = await send({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      // The library sends forms only.
      body: body instanceof URLSearchParams ? body.toString() : null,
      keptBytes: mostBytes,
    })
    if (answer.isCut) throw new OutboundError('failed', 'The answer is too long or took too long.')
    const hasBody = ![204, 205, 304].includes(answer.status)
    return new Response(hasBody ? new Uint8Array(answer.body) : null, {
      status: answer.status,
      headers: answer.headers,
    })
  }

async function asking<T>(ask: (client: Client) => Promise<T>): Promise<T> {
  const client = await load()
  try {
    return await ask(client)
  } catch (error) {
    throw explained(client, error)
  }
}

function explained(client: Client, error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined
  for (const one of [error, cause]) {
    if (one instanceof OutboundError)
      return unavailable(`The provider cannot be asked: ${one.message}`, error)
  }
  if (error instanceof client.AuthorizationResponseError) {
    return refused(`The provider did not let you in: ${said(error)}.`)
  }
  if (error instanceof client.ResponseBodyError) return refused(`The provider refused: ${said(error)}.`)
  if (error instanceof client.ClientError || error instanceof client.WWWAuthenticateChallengeError) {
    return badRequest(`The answer of the provider is not valid: ${messages(error)}.`)
  }
  return error
}

const said = ({ error, error_description: why }: { error: string; error_description?: string }) =>
  `${error}${why === undefined ? '' : ` (${why})`}`.slice(0, 300)

const messages = (error: Error): string =>
  [error.message, error.cause instanceof Error ? error.cause.message : '']
    .filter(Boolean)
    .join(': ')
    .slice(0, 300)
