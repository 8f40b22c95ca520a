import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { IncludeViewer } from '../../schema.ts'
import { presentOrganization, presentRateLimit } from './present.ts'
import * as organizations from './queries.ts'
import { findRights } from './rights.ts'
import { Organization, RateLimitScopes, UpdateOrganization } from './schema.ts'
import { updateOrganization } from './update.ts'

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
    const teams = { teams_enabled: org.teams_enabled }
    return ok({ ...presentOrganization(ctx.config.url, org), ...teams, ...viewer })
  },
})

const updateOrganizationRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org',
  summary: 'Update an organization; its slug stays',
  scope: 'write_organizations',
  permission: 'admin',
  body: UpdateOrganization,
  // Servers remember the name beside the rights.
  changesAccess: true,
  answers: { 200: Organization },
  errors: { 422: 'Neither field is given, or one is not valid.' },
  async handler({ ctx, org, caller, body }) {
    const updated = await updateOrganization({ ctx, org, caller }, body)
    return ok({ ...presentOrganization(ctx.config.url, updated), teams_enabled: org.teams_enabled })
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

export const organizationRoutes = [
  listOrganizationsRoute,
  getOrganizationRoute,
  updateOrganizationRoute,
  getRateLimitRoute,
]
