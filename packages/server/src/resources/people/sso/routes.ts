import { noContent, ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { presentSso } from './present.ts'
import * as sso from './queries.ts'
import { Sso, UpdateSso } from './schema.ts'
import { deleteSso, updateSso } from './update.ts'

const getSsoRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/sso',
  summary: "Get the organization's single sign-on, never its client secret",
  scope: 'read_organization_settings',
  permission: 'admin',
  answers: { 200: Sso },
  async handler({ ctx, org }) {
    return ok(presentSso(ctx.config.url, org.slug, await sso.findOfOrg(ctx.db, org.id)))
  },
})

const updateSsoRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/sso',
  summary: 'Set single sign-on with an OpenID Connect provider up, or change it; what is not given stays',
  scope: 'write_organization_settings',
  permission: 'admin',
  body: UpdateSso,
  changesAccess: true,
  answers: { 200: Sso },
  async handler({ ctx, org, caller, body }) {
    return ok(presentSso(ctx.config.url, org.slug, await updateSso({ ctx, org, caller }, body)))
  },
})

const deleteSsoRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/sso',
  summary: 'Delete single sign-on, with the identities of members at the provider; the members stay',
  scope: 'write_organization_settings',
  permission: 'admin',
  changesAccess: true,
  answers: { 204: null },
  errors: { 404: 'Single sign-on is not set up.' },
  async handler({ ctx, org, caller }) {
    await deleteSso({ ctx, org, caller })
    return noContent()
  },
})

export const ssoRoutes = [getSsoRoute, updateSsoRoute, deleteSsoRoute]
