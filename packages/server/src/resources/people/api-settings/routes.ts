import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { presentApiSettings } from './present.ts'
import * as apiSettings from './queries.ts'
import { ApiSettings, UpdateApiSettings } from './schema.ts'
import { updateApiSettings } from './update.ts'

const getApiSettingsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/api-settings',
  summary: "Get the organization's API settings",
  scope: 'read_organization_settings',
  permission: 'admin',
  answers: { 200: ApiSettings },
  async handler({ ctx, org }) {
    const settings = await apiSettings.getOfOrg(ctx.db, org.id)
    return ok(presentApiSettings(ctx.config.url, org.slug, settings))
  },
})

const updateApiSettingsRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/api-settings',
  summary: "Change the organization's API settings; what is not given stays",
  scope: 'write_organization_settings',
  permission: 'admin',
  body: UpdateApiSettings,
  changesAccess: true,
  answers: { 200: ApiSettings },
  async handler({ ctx, org, caller, body }) {
    const settings = await updateApiSettings(ctx.db, org, caller, body)
    return ok(presentApiSettings(ctx.config.url, org.slug, settings))
  },
})

export const apiSettingsRoutes = [getApiSettingsRoute, updateApiSettingsRoute]
