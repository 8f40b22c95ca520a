// OAuth 2 with the sites that people connect services to: authorization code with PKCE, refresh, revocation. The requests of
// oauth4webapi go through lib/outbound.ts.
import * as oauth from 'oauth4webapi'
import type { Config } from '../../config/config.ts'
import type { OAuthApp, OAuthProvider } from '../../config/outbound.ts'
import { OutboundError } from '../../lib/outbound.ts'
import { DeliveryFailed, type Send } from '../provider.ts'

/** A site and the OAuth client that this installation has there. */
export interface Site extends OAuthApp {
  clientSecret: string
  /** Exactly as it is registered at the site. */
  redirectUri: string
}

export interface Grant {
  access_token: string
  refresh_token: string | null
  token_expires_at: string | null
}

/** Stored between the redirect to the site and the callback. */
export interface Pending {
  state: string
  verifier: string
}

export function siteOf({ oauth: apps, secrets, url }: Config, provider: OAuthProvider): Site | null {
  const app = apps[provider]
  if (app === null) return null
  return { ...app, clientSecret: secrets.oauth[provider], redirectUri: `${url}/oauth/${provider}/callback` }
}

export const newPending = (): Pending => ({
  state: oauth.generateRandomState(),
  verifier: oauth.generateRandomCodeVerifier(),
})

export async function authorizationUrl(site: Site, { state, verifier }: Pending): Promise<string> {
  const url = new URL(site.authorizeUrl)
  const query = {
    response_type: 'code',
    client_id: site.clientId,
    redirect_uri: site.redirectUri,
    scope: site.scopes,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}

/** Throws DeliveryFailed, or what `send` throws. */
export const exchangeCode = (
  site: Site,
  send: Send,
  returned: URLSearchParams,
  { state, verifier }: Pending,
  now: Date,
): Promise<Grant> =>
  asking(async () => {
    const params = oauth.validateAuthResponse(serverOf(site), clientOf(site), returned, state)
    const response = await oauth.authorizationCodeGrantRequest(
      ...clientAt(site),
      params,
      site.redirectUri,
      verifier,
      through(send),
    )
    const answer = await oauth.processAuthorizationCodeResponse(serverOf(site), clientOf(site), response, {
      recognizedTokenTypes,
    })
    return grantOf(answer, null, now)
  })

export const refreshGrant = (site: Site, send: Send, refreshToken: string, now: Date): Promise<Grant> =>
  asking(async () => {
    const response = await oauth.refreshTokenGrantRequest(...clientAt(site), refreshToken, through(send))
    const answer = await oauth.processRefreshTokenResponse(serverOf(site), clientOf(site), response, {
      recognizedTokenTypes,
    })
    return grantOf(answer, refreshToken, now)
  })

/** A token that the site does not know counts as revoked. */
export const revokeToken = (site: Site, send: Send, token: string): Promise<void> =>
  asking(async () => {
    const response = await oauth.revocationRequest(...clientAt(site), token, through(send))
    await oauth.processRevocationResponse(response).catch((error: unknown) => {
      if (!(error instanceof oauth.ResponseBodyError && unknownToken.has(error.error))) throw error
    })
  })

const unknownToken = new Set([
  'invalid_token',
  'invalid_auth',
  'token_revoked',
  'token_expired',
  'not_authed',
])

/** The site has rejected the grant. */
export class GrantRefused extends DeliveryFailed {}

/** Some sites use token types of their own for bearer tokens. */
const recognizedTokenTypes: oauth.RecognizedTokenTypes = { bot: () => {}, user: () => {} }

const serverOf = ({ issuer, authorizeUrl, tokenUrl, revokeUrl }: Site): oauth.AuthorizationServer => ({
  issuer,
  authorization_endpoint: authorizeUrl,
  token_endpoint: tokenUrl,
  revocation_endpoint: revokeUrl,
})

const clientOf = ({ clientId }: Site): oauth.Client => ({ client_id: clientId })

const clientAt = (site: Site) =>
  [serverOf(site), clientOf(site), oauth.ClientSecretPost(site.clientSecret)] as const

function grantOf(answer: oauth.TokenEndpointResponse, refreshToken: string | null, now: Date): Grant {
  const { access_token: token, refresh_token: next, expires_in: seconds } = answer
  return {
    access_token: token,
    // Without a new refresh token the old one stays valid.
    refresh_token: next ?? refreshToken,
    token_expires_at: seconds === undefined ? null : new Date(now.getTime() + seconds * 1000).toISOString(),
  }
}

/** config/outbound.ts allows http URLs only for the local machine. */
const through = (send: Send) => ({
  [oauth.allowInsecureRequests]: true,
  [oauth.customFetch]: async (
    url: string,
    { headers, body }: { headers: Record<string, string>; body: unknown },
  ) => {
    const answer = await send({ method: 'POST', url, headers, body: String(body) })
    const { status, bytes } = actualStatus(answer)
    return new Response(status === 204 ? null : new Uint8Array(bytes), { status, headers: answer.headers })
  },
})

/** Some sites answer errors with status 200 and `ok: false`. */
function actualStatus({ status, body }: { status: number; body: Buffer }): { status: number; bytes: Buffer } {
  const isRefusal = status === 200 && /"ok"\s*:\s*false/.test(body.subarray(0, 1000).toString())
  return { status: isRefusal ? 400 : status, bytes: body }
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      throw new DeliveryFailed(`The site did not let us in: ${said(error)}.`, { isFinal: true })
    }
    if (error instanceof oauth.ResponseBodyError) {
      throw new GrantRefused(`The site answered ${error.status}: ${said(error)}.`, { isFinal: true })
    }
    if (error instanceof OutboundError || error instanceof DeliveryFailed) throw error
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('OAUTH_')) {
      throw new DeliveryFailed(`What the site answered is not OAuth: ${error.message}.`)
    }
    throw error
  }
}

const said = ({ error, error_description: why }: { error: string; error_description?: string }) =>
  `${error}${why === undefined ? '' : ` (${why})`}`.slice(0, 300)
