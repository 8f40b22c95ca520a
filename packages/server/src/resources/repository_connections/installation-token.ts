// Tokens of a GitHub App: for one repository, with the permissions that are needed and no others, good for an hour.
import { createPrivateKey } from 'node:crypto'
import type { Context } from '../../context.ts'
import { signJwt } from '../../lib/jwt.ts'
import { OutboundError, type OutboundResponse } from '../../lib/outbound.ts'
import type { Lasting } from '../../lib/short-lived.ts'
import { apiHeaders } from './rules.ts'

/** As GitHub calls them, such as `{contents: 'read'}`. */
export type Permissions = Readonly<Record<string, 'read' | 'write'>>

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

/** `isPassing`: the same may be answered otherwise the next time, without anybody changing anything. */
export class TokenRefused extends Error {
  readonly isPassing: boolean
  readonly waitSeconds: number

  constructor(message: string, { isPassing = false, waitSeconds = 0 } = {}) {
    super(message)
    this.isPassing = isPassing
    this.waitSeconds = waitSeconds
  }
}

/** GitHub takes ten minutes at most, and clocks differ. */
const earlierSeconds = 60
const laterSeconds = 9 * 60
const mostAnswerBytes = 512 * 1024

/**
 * `holder`: those who have the same token can also revoke it for one another, so nobody shares one with a job. What is
 * remembered goes by the key and the installation, so that with either of them it is forgotten, in every process.
 */
export function installationToken(
  ctx: Context,
  app: App,
  repository: string,
  permissions: Permissions,
  holder: string,
): Promise<string> {
  return ctx.appTokens.get(memoryKey(app, repository, permissions, holder), ctx.now(), () =>
    makeInstallationToken(ctx, app, repository, permissions),
  )
}

/** The host does not take it any more. */
export function forgetInstallationToken(
  ctx: Context,
  app: App,
  repository: string,
  permissions: Permissions,
  holder: string,
): void {
  ctx.appTokens.forget(memoryKey(app, repository, permissions, holder))
}

const memoryKey = (app: App, repository: string, permissions: Permissions, holder: string): string =>
  JSON.stringify([
    app.connectionId,
    app.apiUrl,
    app.appId,
    app.installationId,
    app.fingerprint,
    repository.toLowerCase(),
    Object.entries(permissions)
      .map(([name, level]) => `${name}: ${level}`)
      .toSorted(),
    holder,
  ])

export async function makeInstallationToken(
  ctx: Context,
  app: App,
  repository: string,
  permissions: Permissions,
): Promise<Lasting<string>> {
  const [owner = '', name = '', ...more] = repository.split('/')
  if (owner === '' || name === '' || more.length > 0) {
    throw new TokenRefused(`${repository} is not the name of a repository at GitHub, such as acme/app.`)
  }
  const answer = await ask(ctx, app, { repositories: [name], permissions })
  if (answer.status !== 201) throw refusalOf(app, repository, answer)
  return readToken(answer, repository)
}

async function ask(ctx: Context, app: App, body: object): Promise<OutboundResponse> {
  const now = Math.floor(ctx.now().getTime() / 1000)
  const claims = { iss: app.appId, iat: now - earlierSeconds, exp: now + laterSeconds }
  const jwt = signJwt(claims, createPrivateKey(ctx.keys.open(app.sealed, app.keyId)))
  try {
    return await ctx.outbound.send({
      method: 'POST',
      url: `${app.apiUrl}/app/installations/${app.installationId}/access_tokens`,
      headers: apiHeaders('github', jwt),
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

/** Names of repositories mean those of the account the App is installed in, which may be another than the one meant. */
function readToken({ body, isCut }: OutboundResponse, repository: string): Lasting<string> {
  const answer = isCut ? null : parse(body)
  const { token, expires_at: expiresAt, repositories } = answer ?? {}
  const endsAt = new Date(typeof expiresAt === 'string' ? expiresAt : Number.NaN)
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token) || Number.isNaN(endsAt.getTime())) {
    throw new TokenRefused('The host answered with something that is not a token.', { isPassing: true })
  }
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

function refusalOf(app: App, repository: string, answer: OutboundResponse): TokenRefused {
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

function hintFor(status: number, app: App, repository: string): string {
  switch (status) {
    case 401:
      return `is ${app.appId} the id of the App that private_key belongs to, and is the clock of this server right?`
    case 403:
      return `is installation ${app.installationId} suspended?`
    case 404:
      return `App ${app.appId} has no installation ${app.installationId}; was it removed?`
    case 422:
      return `the installation does not include ${repository}, or has not been given a permission that is needed`
    default:
      return 'it may pass'
  }
}
