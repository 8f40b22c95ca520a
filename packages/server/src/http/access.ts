// Who asks and whether they may, in the order that gives nothing away: token, organization, scope, permission.
import type { FastifyRequest } from 'fastify'
import { hasFeature, type Caller, type Organization } from '../auth/caller.ts'
import type { FoundToken } from '../auth/find-tokens.ts'
import { judge } from '../auth/permissions.ts'
import type { Spent } from '../auth/rate-limits.ts'
import type { Context } from '../context.ts'
import { ApiError, forbidden, notFound, unauthorized } from '../lib/errors.ts'
import { isInRanges } from '../lib/ip-ranges.ts'
import { after, type Soon } from '../lib/soon.ts'
import { isStorable } from '../lib/unstorable.ts'
import type { Route } from './route.ts'

export interface Access {
  caller: Caller | null
  org: Organization | null
  /** Where the permission is about the pipeline that the URL names. */
  pipelineId: string | null
}

type Admitted = Access & { caller: Caller }

export const anybody: Access = { caller: null, org: null, pipelineId: null }

export function authorize(
  ctx: Context,
  route: Route,
  request: FastifyRequest,
  onSpent: (spent: Spent) => void,
): Soon<Access> {
  const params = request.params as Record<string, string>
  if (route.permission === 'anonymous') {
    requireNames(route, params)
    return anybody
  }
  const slug = isInOrganization(route) ? (params['org'] ?? '') : null

  return after(findToken(ctx, request, slug), (found) => {
    if (found !== null) return admit(ctx, route, found, request, onSpent)
    throw unauthorized(
      `Authentication required. Please supply a valid API Access Token: ${ctx.config.url}/docs`,
    )
  })
}

/** The token that the request shows, with the organization of that slug where its user is a member; null: none. */
function findToken(ctx: Context, request: FastifyRequest, slug: string | null): Soon<FoundToken | null> {
  const token = bearerToken(request.headers.authorization)
  return token === null ? null : ctx.tokens.find(token, slug !== null && isStorable(slug) ? slug : null)
}

/** Counts a request that reaches no route. Without a valid token there is nobody to count it for. */
export function countRequest(
  ctx: Context,
  request: FastifyRequest,
  slug: string | null,
  onSpent: (spent: Spent) => void,
): Soon<void> {
  return after(findToken(ctx, request, slug), (found) =>
    found === null ? undefined : spend(ctx, found, onSpent),
  )
}

/** Throws 429 where limits are enforced and one of them is exceeded. */
function spend(ctx: Context, found: FoundToken, onSpent: (spent: Spent) => void): Soon<void> {
  return after(ctx.limits.spend(found.user.id, found.organization?.id ?? null), (spent) => {
    onSpent(spent)
    ctx.limits.refuseExceeded(spent)
  })
}

/** What is to hold for whoever the token belongs to. */
export type Rule = Pick<Route, 'url' | 'scope' | 'permission' | 'feature' | 'params'>

/** `found` may have been asked for with the slug in the URL, or with one that is known otherwise. */
export function admit(
  ctx: Context,
  route: Rule,
  found: FoundToken,
  request: FastifyRequest,
  onSpent: (spent: Spent) => void,
): Soon<Admitted> {
  return after(spend(ctx, found, onSpent), () => enter(ctx, route, found, request))
}

function enter(ctx: Context, route: Rule, found: FoundToken, request: FastifyRequest): Soon<Admitted> {
  const params = request.params as Record<string, string>
  if (found.allowed_ip_addresses !== null && !isInRanges(request.ip, found.allowed_ip_addresses)) {
    throw forbidden(`Your access token may not be used from ${request.ip}`)
  }
  ctx.tokenUse.record(found.id, request.ip)

  const { user, organization } = found
  const caller: Caller = {
    user,
    token: found,
    request: { ip: request.ip, userAgent: request.headers['user-agent']?.slice(0, 500) ?? null },
  }
  if (!isInOrganization(route)) {
    requireScope(route, found.scopes)
    requireNames(route, params)
    return { caller, org: null, pipelineId: null }
  }
  if (organization === null) throw notFound('No organization found')
  if (
    organization.allowed_ip_addresses !== null &&
    !isInRanges(request.ip, organization.allowed_ip_addresses)
  ) {
    throw forbidden(`The organization does not allow API requests from ${request.ip}`)
  }
  requireScope(route, found.scopes)
  requireNames(route, params)
  const { cluster, team, pipeline } = params
  const judging = judge(ctx.db, route.permission, organization, caller, { cluster, team, pipeline })
  return after(judging, (verdict) => {
    if (verdict === 'no') throw forbidden()
    if (verdict !== 'yes' && 'missing' in verdict) throw notFound(`No ${verdict.missing} found`)
    if (route.feature !== null && !hasFeature(organization, route.feature.name, ctx.config.hosted !== null)) {
      throw new ApiError(route.feature.otherwise.status, route.feature.otherwise.message)
    }
    return { caller, org: organization, pipelineId: verdict === 'yes' ? null : verdict.pipelineId }
  })
}

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
