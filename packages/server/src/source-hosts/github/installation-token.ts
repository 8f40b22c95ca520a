// Tokens of a GitHub App: for one repository, or null for all of the installation, with only the permissions that are needed,
// valid for an hour.
import { createPrivateKey } from 'node:crypto'
import { signJwt } from '../../lib/jwt.ts'
import { OutboundError, type OutboundResponse } from '../../lib/outbound.ts'
import type { Expiring } from '../../lib/expiring-cache.ts'
import { TokenRefused, type Credentials, type Permissions, type TokenTools } from '../host.ts'
import { apiHeaders } from './api-headers.ts'

/** The App of a connection, and where it is installed. */
export interface App {
  connectionId: string
  apiUrl: string
  appId: string
  installationId: string
  sealed: Buffer
  keyId: string
  fingerprint: string
}

/** Null: the connection has no GitHub App. */
export function appOf(connection: Credentials): App | null {
  const { app_id, installation_id, private_key_sealed, private_key_id, private_key_hint } = connection
  if (!app_id || !installation_id || !private_key_sealed || !private_key_id || !private_key_hint) return null
  return {
    connectionId: connection.id,
    apiUrl: connection.api_url,
    appId: app_id,
    installationId: installation_id,
    sealed: private_key_sealed,
    keyId: private_key_id,
    fingerprint: private_key_hint,
  }
}

/** GitHub accepts ten minutes at most, and clocks differ. */
const earlierSeconds = 60
const laterSeconds = 9 * 60
const mostAnswerBytes = 512 * 1024

/**
 * Tokens are cached per `holder`: everybody who has a token can revoke it, so no job shares one. The key and the
 * installation are part of the cache key, so a change of either takes effect at once in every process.
 */
export function installationToken(
  tools: TokenTools,
  app: App,
  repository: string | null,
  permissions: Permissions,
  holder: string,
): Promise<string> {
  return tools.appTokens.get(cacheKey(app, repository, permissions, holder), tools.now(), () =>
    makeInstallationToken(tools, app, repository, permissions),
  )
}

/** For a token that the host refused. */
export function evictInstallationToken(
  tools: TokenTools,
  app: App,
  repository: string | null,
  permissions: Permissions,
  holder: string,
): void {
  tools.appTokens.delete(cacheKey(app, repository, permissions, holder))
}

const cacheKey = (app: App, repository: string | null, permissions: Permissions, holder: string): string =>
  JSON.stringify([
    app.connectionId,
    app.apiUrl,
    app.appId,
    app.installationId,
    app.fingerprint,
    repository?.toLowerCase() ?? null,
    Object.entries(permissions)
      .map(([name, level]) => `${name}: ${level}`)
      .toSorted(),
    holder,
  ])

export async function makeInstallationToken(
  tools: TokenTools,
  app: App,
  repository: string | null,
  permissions: Permissions,
): Promise<Expiring<string>> {
  const wanted = repository === null ? {} : { repositories: [nameIn(repository)] }
  const answer = await ask(tools, app, { ...wanted, permissions })
  if (answer.status !== 201) throw refusalOf(app, repository, answer)
  return readToken(answer, repository)
}

function nameIn(repository: string): string {
  const [owner = '', name = '', ...more] = repository.split('/')
  if (owner === '' || name === '' || more.length > 0) {
    throw new TokenRefused(`${repository} is not the name of a repository at GitHub, such as acme/app.`)
  }
  return name
}

async function ask(tools: TokenTools, app: App, body: object): Promise<OutboundResponse> {
  const now = Math.floor(tools.now().getTime() / 1000)
  const claims = { iss: app.appId, iat: now - earlierSeconds, exp: now + laterSeconds }
  const jwt = signJwt(claims, createPrivateKey(tools.keys.open(app.sealed, app.keyId)))
  try {
    return await tools.outbound.send({
      method: 'POST',
      url: `${app.apiUrl}/app/installations/${app.installationId}/access_tokens`,
      headers: apiHeaders(jwt),
      body: JSON.stringify(body),
      keptBytes: mostAnswerBytes,
    })
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw new TokenRefused(`No token could be got from the host. ${error.message}`, {
      isPassing: error.kind === 'failed',
    })
  }
}

/** GitHub looks for the repository in the account the App is installed in, which may be another than the owner. */
function readToken({ body, isCut }: OutboundResponse, repository: string | null): Expiring<string> {
  const answer = isCut ? null : parse(body)
  const { token, expires_at: expiresAt, repositories } = answer ?? {}
  const endsAt = new Date(typeof expiresAt === 'string' ? expiresAt : Number.NaN)
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token) || Number.isNaN(endsAt.getTime())) {
    throw new TokenRefused('The host answered with something that is not a token.', { isPassing: true })
  }
  if (repository === null) return { value: token, endsAt }
  const names = Array.isArray(repositories)
    ? repositories.map((one: unknown) => String(Reflect.get(Object(one), 'full_name')).toLowerCase())
    : []
  if (names.length !== 1 || names[0] !== repository.toLowerCase()) {
    throw new TokenRefused(`The App is installed in another account than that of ${repository}.`)
  }
  return { value: token, endsAt }
}

function parse(body: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

const longestWaitSeconds = 3600

function refusalOf(app: App, repository: string | null, answer: OutboundResponse): TokenRefused {
  const { status, headers } = answer
  const said = parse(answer.body)?.['message']
  const words = typeof said === 'string' && said !== '' ? `: ${said.slice(0, 200)}` : ''
  const after = headers['retry-after'] ?? ''
  const waitSeconds = /^\d{1,6}$/.test(after) ? Math.min(Number(after), longestWaitSeconds) : 0
  const isLimited =
    status === 429 || waitSeconds > 0 || (status === 403 && headers['x-ratelimit-remaining'] === '0')
  const hint = isLimited ? 'the App has asked too often' : hintFor(status, app, repository)
  return new TokenRefused(`The host gave the App no token: it answered ${status} (${hint})${words}`, {
    isPassing: isLimited || status >= 500,
    waitSeconds,
  })
}

function hintFor(status: number, app: App, repository: string | null): string {
  switch (status) {
    case 401:
      return `is ${app.appId} the id of the App that private_key belongs to, and is the clock of this server right?`
    case 403:
      return `is installation ${app.installationId} suspended?`
    case 404:
      return `App ${app.appId} has no installation ${app.installationId}; was it removed?`
    case 422:
      return repository === null
        ? 'the installation has not been given a permission that is needed'
        : `the installation does not include ${repository}, or has not been given a permission that is needed`
    default:
      return 'it may pass'
  }
}
