// The server as an authorization server for programs, as OAuth describes it: what it offers, and how a program asks it.
import { Refused } from '../refused.ts'
import { exchange } from './exchange.ts'
import { oneLine } from './text.ts'

export interface Metadata {
  issuer: string
  authorization_endpoint: string
  registration_endpoint: string
  token_endpoint: string
  /** Absent: the server is older than logins without a browser. */
  device_authorization_endpoint?: string
  scopes_supported: string[]
}

export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/** How a token is renewed. */
export interface Renewal {
  token: string
  client_id: string
  /** When the access token expires. */
  expires_at: string
}

/** An access token, and how it is renewed. */
export interface Grant {
  token: string
  /** null: it is valid until it expires. */
  renewal: Renewal | null
}

export interface TokenAnswer {
  access_token: string
  expires_in: number
  refresh_token?: string
}

export function grantOf(answer: TokenAnswer, clientId: string): Grant {
  const { access_token: token, refresh_token: next, expires_in: seconds } = answer
  const expiresAt = new Date(Date.now() + seconds * 1000).toISOString()
  return {
    token,
    renewal: next === undefined ? null : { token: next, client_id: clientId, expires_at: expiresAt },
  }
}

/** What commands change. The page of tokens proposes the same (commandScopes in packages/web). */
const WRITE_SCOPES = [
  'write_agents',
  'write_artifacts',
  'write_build_logs',
  'write_builds',
  'write_clusters',
  'write_pipelines',
  'write_secrets',
]

export const scopesOf = ({ scopes_supported: scopes }: Metadata): string =>
  [...scopes.filter((scope) => scope.startsWith('read_')), ...WRITE_SCOPES].join(' ')

/** null: the server does not answer, or is older than this way to log in. */
export const findMetadata = (url: string): Promise<Metadata | null> =>
  request<Metadata>(`${url}/.well-known/oauth-authorization-server`).catch(() => null)

interface Registration {
  client_name: string
  redirect_uris?: string[]
  grant_types: string[]
}

/** Returns the id of the client. */
export async function register(url: string, metadata: Metadata, registration: Registration): Promise<string> {
  const { client_id: clientId } = await request<{ client_id: string }>(
    addressOf(url, metadata.registration_endpoint),
    { type: 'application/json', body: JSON.stringify(registration) },
  )
  return clientId
}

/** Only the path that the server names is used, so that secrets go to the host that the person has named. */
export const addressOf = (url: string, endpoint: string) => `${url}${new URL(endpoint).pathname}`

/** What the server answers instead of a token. */
export class OAuthError extends Refused {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export const postForm = <T>(address: string, fields: Record<string, string>): Promise<T> =>
  request<T>(address, {
    type: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(fields).toString(),
  })

async function request<T>(address: string, sent?: { type: string; body: string }): Promise<T> {
  const headers = { Accept: 'application/json', 'User-Agent': 'millrace-cli' }
  const answer = await exchange(
    address,
    sent === undefined
      ? { method: 'GET', headers }
      : { method: 'POST', headers: { ...headers, 'Content-Type': sent.type }, body: sent.body },
  )
  const text = await answer.text()
  if (answer.ok) return JSON.parse(text) as T
  const message = `${address} answers ${answer.status}: ${oneLine(text).slice(0, 300)}`
  throw new OAuthError(errorIn(text) ?? '', message)
}

function errorIn(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : null
  } catch {
    return null
  }
}
