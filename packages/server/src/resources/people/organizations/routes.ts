import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { IncludeViewer } from '../../schema.ts'
import { presentOrganization, presentRateLimit } from './present.ts'
import * as organizations from './queries.ts'
import { findRights } from './rights.ts'
import { Organization, RateLimitScopes } from './schema.ts'

const listOrganizationsRoute = route({
  method: 'GET',
  url: '/v2/organizations',
  summary: 'List the organizations the token may access, oldest first',
  scope: 'read_organizations',
  permission: 'token',
  paging: 'pages',
  answers: { 200: Type.Array(Organization) },
  async handler({ ctx, caller, url }) {
    const page = readPage(url)
    const reached = await organizations.listOfCaller(ctx.db, caller)
    return pageAnswer(page, reached.slice(page.offset, page.offset + page.limit), (org) =>
      presentOrganization(ctx.config.url, org),
    )
  },
})

const getOrganizationRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org',
  summary: 'Get an organization',
  scope: 'read_organizations',
  permission: 'member',
  query: IncludeViewer,
  answers: { 200: Organization },
  async handler({ ctx, org, caller, query }) {
    const viewer = query.include_viewer ? { viewer: { may: await findRights(ctx.db, org, caller) } } : {}
    return ok({ ...presentOrganization(ctx.config.url, org), ...viewer })
  },
})

const getRateLimitRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/rate_limit',
  summary: 'Get how much of the rate limit the organization has used',
  scope: 'read_organizations',
  permission: 'member',
  answers: { 200: RateLimitScopes },
  async handler({ ctx, org }) {
    const rest = await ctx.limits.peek(org.id)
    return ok(
      presentRateLimit(rest, { isEnforced: ctx.config.rateLimits.counted !== 'for_show', now: ctx.now() }),
    )
  },
})

export const organizationRoutes = [listOrganizationsRoute, getOrganizationRoute, getRateLimitRoute]
