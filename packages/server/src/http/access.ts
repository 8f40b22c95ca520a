// Decides who may call, in the order that reveals nothing: token or session, organization, scope, permission.
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { hasFeature, hasFeatureWhereHosted, type Caller, type Organization } from '../auth/caller.ts'
import type { FoundToken } from '../auth/find-tokens.ts'
import { checkPermission } from '../auth/permissions.ts'
import type { Spent } from '../auth/rate-limits.ts'
import type { Context } from '../context.ts'
import { ApiError, forbidden, notFound, unauthorized } from '../lib/errors.ts'
import { isInRanges } from '../lib/ip-ranges.ts'
import { isStorable } from '../lib/unstorable.ts'
import type { Route } from './route.ts'
import { findSession } from './session-cookie.ts'

interface Access {
  caller: Caller | null
  org: Organization | null
  /** Set where the permission concerns the pipeline that the URL names. */
  pipelineId: string | null
}

type Admitted = Access & { caller: Caller }

export const anybody: Access = { caller: null, org: null, pipelineId: null }

declare module 'fastify' {
  interface FastifyRequest {
    access: Access | null
    /** The caller's rate limits, for the headers of the response. */
    spent: Spent | null
    /** The request has the cookie and a proof of a session, so pages of other origins may not read the response. */
    hasSession: boolean
  }
}

export async function authorize(ctx: Context, route: Route, request: FastifyRequest): Promise<Access> {
  const params = request.params as Record<string, string>
  if (route.permission === 'anonymous') {
    requireNames(route, params)
    return anybody
  }
  const slug = isInOrganization(route) ? (params['org'] ?? '') : null
  const found = await findToken(ctx, request, slug, route)
  if (found === null) throw unauthenticated(ctx)
  await countRequest(ctx, request, found)
  return admit(ctx, route, found, request)
}

/** The same for endpoints that take tokens only. */
export async function authorizeToken(
  ctx: Context,
  rule: Rule,
  request: FastifyRequest,
  params: Record<string, string> = {},
): Promise<Admitted> {
  const slug = isInOrganization(rule) ? (params['org'] ?? '') : null
  const token = bearerToken(request.headers.authorization)
  const found = token === null ? null : await ctx.tokens.find(token, storable(slug))
  if (found === null) throw unauthenticated(ctx)
  await countRequest(ctx, request, found)
  return admit(ctx, rule, found, { ip: request.ip, headers: request.headers, params })
}

export const unauthenticated = (ctx: Context) =>
  unauthorized(`Authentication required. Please supply a valid API Access Token: ${ctx.config.url}/docs`)

/** Judges the request of a long response again. null: the caller's access has ended. */
export async function reauthorize(
  ctx: Context,
  route: Route,
  request: FastifyRequest,
): Promise<Access | null> {
  const slug = (request.params as Record<string, string>)['org'] ?? null
  const found = await findToken(ctx, request, slug, route)
  if (found === null) return null
  return admit(ctx, route, found, request).catch((error: unknown) => {
    if (error instanceof ApiError && error.status < 500) return null
    throw error
  })
}

/** Counts a request that reaches no route. A request without a valid token counts for nobody. */
export async function countUnrouted(ctx: Context, request: FastifyRequest): Promise<void> {
  const [, slug = null] = /^\/v2\/(?:analytics\/)?organizations\/([^/?]+)/.exec(request.url) ?? []
  const found = await findToken(ctx, request, slug, { download: false, takesBasic: false })
  if (found !== null) await countRequest(ctx, request, found)
}

/**
 * Finds the token of the request, or else the session that it proves, and the organization with that slug if its owner is a
 * member.
 */
async function findToken(
  ctx: Context,
  request: FastifyRequest,
  slug: string | null,
  { download, takesBasic }: Pick<Route, 'download' | 'takesBasic'>,
) {
  const known = storable(slug)
  const { authorization } = request.headers
  const token = bearerToken(authorization) ?? (takesBasic ? basicPassword(authorization) : null)
  if (token !== null) return ctx.tokens.find(token, known)
  const proven = await findSession(ctx, request, known, { ticket: download })
  return proven?.found ?? null
}

const storable = (slug: string | null) => (slug !== null && isStorable(slug) ? slug : null)

/** Throws 429 where limits are enforced and one of them is exceeded. */
export async function countRequest(ctx: Context, request: FastifyRequest, found: FoundToken): Promise<void> {
  request.spent = await ctx.limits.spend(countedAs(found), found.organization?.id ?? null)
  ctx.limits.refuseExceeded(request.spent)
}

/**
 * What the limit of the user counts: the tokens of a person together, the sessions that the person has opened together, and those
 * of each provider. So neither a token nor the provider of another organization uses up what the person's pages need.
 */
function countedAs({ user, session }: FoundToken): string {
  if (session === null || session.opened_with === 'token') return user.id
  return session.opened_with === 'sso' ? `${user.id} ${session.organization_id}` : `${user.id} session`
}

/** The access rule of a route or a page. */
export type Rule = Pick<Route, 'url' | 'scope' | 'permission' | 'feature' | 'params'>

interface Visit {
  ip: string
  headers: IncomingHttpHeaders
  params: unknown
}

/** Judges a token or session that was found together with the organization of the rule. */
export async function admit(ctx: Context, route: Rule, found: FoundToken, request: Visit): Promise<Admitted> {
  const params = request.params as Record<string, string>
  if (found.allowed_ip_addresses !== null && !isInRanges(request.ip, found.allowed_ip_addresses)) {
    throw forbidden(`Your access token may not be used from ${request.ip}`)
  }
  if (found.id !== null) ctx.tokenUse.record(found.id, request.ip)
  if (found.session !== null) ctx.sessionUse.record(found.session.id, request.ip)

  const { user, organization } = found
  const caller: Caller = {
    user,
    token: found,
    session: found.session,
    request: { ip: request.ip, userAgent: userAgentOf(request) },
  }
  if (!isInOrganization(route)) {
    requireScope(route, found.scopes)
    requireNames(route, params)
    return { caller, org: null, pipelineId: null }
  }
  if (organization === null) throw notFound('No organization found')
  if (organization.sso_missing) {
    const address = `${ctx.config.url}/-/sso/${organization.slug}`
    throw new ApiError(403, `${organization.name} requires single sign-on. Sign in at ${address}`, {
      details: { sso_url: address },
    })
  }
  if (
    organization.allowed_ip_addresses !== null &&
    !isInRanges(request.ip, organization.allowed_ip_addresses)
  ) {
    throw forbidden(`The organization does not allow API requests from ${request.ip}`)
  }
  requireScope(route, found.scopes)
  requireNames(route, params)
  const { cluster, team, pipeline } = params
  const verdict = await checkPermission(ctx.db, route.permission, organization, caller, {
    cluster,
    team,
    pipeline,
  })
  if (verdict === 'no') throw forbidden()
  if (verdict !== 'yes' && 'missing' in verdict) throw notFound(`No ${verdict.missing} found`)
  const has = ctx.config.hosted === null ? hasFeature : hasFeatureWhereHosted
  if (route.feature !== null && !has(organization, route.feature.name)) {
    throw new ApiError(route.feature.error.status, route.feature.error.message)
  }
  return { caller, org: organization, pipelineId: verdict === 'yes' ? null : verdict.pipelineId }
}

export const userAgentOf = ({ headers }: Pick<Visit, 'headers'>): string | null =>
  headers['user-agent']?.slice(0, 500) ?? null

const isInOrganization = ({ url }: Rule) => /^(\/v2(\/analytics)?)?\/organizations\/:org(\/|$)/.test(url)

function requireScope(route: Rule, scopes: readonly string[]): void {
  if (route.scope !== 'none' && !scopes.includes(route.scope)) {
    throw forbidden(`Your access token doesn't have the ${route.scope} scope`)
  }
}

function requireNames(route: Rule, params: Record<string, string>): void {
  for (const [name, param] of Object.entries(route.params)) {
    if (!param.matches(params[name] ?? '')) throw notFound(param.notFound)
  }
}

function bearerToken(header: string | undefined): string | null {
  const match = /^Bearer +([\x21-\x7e]{1,500}) *$/i.exec(header ?? '')
  return match?.[1] ?? null
}

/** The user name may be anything: a token says whose it is. */
function basicPassword(header: string | undefined): string | null {
  const [, pair = ''] = /^Basic +([\w+/=]{1,1000}) *$/i.exec(header ?? '') ?? []
  return /^[^:]*:([\x21-\x7e]{1,500})$/.exec(Buffer.from(pair, 'base64').toString('latin1'))?.[1] ?? null
}
