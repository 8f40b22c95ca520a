import { Type } from 'typebox'
import type { Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { route } from '../../../http/route.ts'
import { openSettings } from '../../../notifications/delivery/open-service.ts'
import { namedProviders } from '../../../notifications/providers/other-names.ts'
import { NotificationService, NotificationServiceList } from './response-schema.ts'
import { createService } from './create.ts'
import { deleteService } from './delete.ts'
import { presentProvider } from './present-provider.ts'
import { presentService } from './present.ts'
import { NotificationProvider } from './provider-schema.ts'
import * as services from './queries.ts'
import { CreateService, ServiceState, UpdateService } from './schema.ts'
import { disableService, enableService } from './enable-disable.ts'
import { updateService } from './update.ts'

const present = (ctx: Context, org: Organization, service: services.ServiceRow) =>
  presentService(ctx.config.url, org, service, openSettings(ctx.keys, service))

const IncludeLastDelivery = {
  include_last_delivery: Type.Optional(
    Type.Boolean({ description: 'Add `last_delivery`: what the service was last sent. Default false.' }),
  ),
}

async function lastDeliveriesOf(
  ctx: Context,
  org: Organization,
  { include_last_delivery: isWanted = false }: { include_last_delivery?: boolean | undefined },
  rows: readonly services.ServiceRow[],
) {
  if (!isWanted) return () => ({})
  const ids = rows.map(({ id }) => id)
  const found = await services.findLastDeliveries(ctx.db, org.id, ids)
  return ({ id }: services.ServiceRow) => ({ last_delivery: found.get(id) ?? null })
}

const listServicesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/services',
  summary: 'List notification services, oldest first',
  scope: 'read_notification_services',
  permission: 'manage_notification_services',
  query: { state: Type.Optional(ServiceState), ...IncludeLastDelivery },
  paging: 'cursor',
  answers: { 200: NotificationServiceList },
  errors: { 400: 'Both `after` and `before` are given, a cursor is invalid, or `per_page` is out of range.' },
  async handler({ ctx, org, query, url }) {
    const page = readCursor(url, `services ${org.id}`, ctx.keys)
    const rows = await services.listInOrg(ctx.db, org.id, query.state, page)
    const withLast = await lastDeliveriesOf(ctx, org, query, rows)
    return cursorAnswer(
      page,
      rows,
      (row) => ({ at: row.created_at, id: row.id }),
      (row) => ({ ...present(ctx, org, row), ...withLast(row) }),
    )
  },
})

const getServiceRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/services/:service',
  summary: 'Get a notification service',
  scope: 'read_notification_services',
  permission: 'manage_notification_services',
  query: {
    ...IncludeLastDelivery,
    include_targets: Type.Optional(
      Type.Boolean({ description: 'Add `targets`: the names of what `scope_uuids` has. Default false.' }),
    ),
  },
  answers: { 200: NotificationService },
  async handler({ ctx, org, caller, params, query }) {
    const service = await services.getInOrg(ctx.db, org.id, params.service)
    const withLast = await lastDeliveriesOf(ctx, org, query, [service])
    const targets = query.include_targets === true && {
      targets: await services.listTargets(ctx.db, org, caller, service.id),
    }
    return ok({ ...present(ctx, org, service), ...withLast(service), ...targets })
  },
})

const listProvidersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/services/providers',
  summary: 'List the providers of notification services, with their settings as forms show them',
  scope: 'read_notification_services',
  permission: 'manage_notification_services',
  answers: { 200: Type.Array(NotificationProvider) },
  async handler({ ctx, org }) {
    return ok(namedProviders().map((named) => presentProvider(ctx.config, org, named)))
  },
})

const createServiceRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/services',
  summary: 'Create a notification service',
  scope: 'write_notification_services',
  permission: 'manage_notification_services',
  body: CreateService,
  answers: { 201: NotificationService },
  errors: { 422: 'A field is invalid, unknown, read-only, or not available to the organization.' },
  async handler({ ctx, org, caller, body }) {
    return created(present(ctx, org, await createService({ ctx, org, caller }, body)))
  },
})

const updateServiceRoute = route({
  method: ['PATCH', 'PUT'],
  url: '/v2/organizations/:org/services/:service',
  summary: 'Update a notification service; what is not sent stays as it is',
  scope: 'write_notification_services',
  permission: 'manage_notification_services',
  body: UpdateService,
  answers: { 200: NotificationService },
  errors: { 422: 'A field is invalid, unknown, read-only, or may not change like this.' },
  async handler({ ctx, org, caller, params, body }) {
    return ok(present(ctx, org, await updateService({ ctx, org, caller }, params.service, body)))
  },
})

const deleteServiceRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/services/:service',
  summary: 'Delete a notification service with its deliveries',
  scope: 'write_notification_services',
  permission: 'manage_notification_services',
  callsOut: true,
  answers: { 204: null },
  errors: { 422: 'The provider’s configuration could not be removed; the message has the reason.' },
  async handler({ ctx, org, caller, params }) {
    await deleteService({ ctx, org, caller }, params.service)
    return noContent()
  },
})

const enableServiceRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/services/:service/enable',
  summary: 'Enable a notification service, whether it was disabled or broken',
  scope: 'write_notification_services',
  permission: 'manage_notification_services',
  answers: { 200: NotificationService },
  async handler({ ctx, org, caller, params }) {
    return ok(present(ctx, org, await enableService({ ctx, org, caller }, params.service)))
  },
})

const disableServiceRoute = route({
  method: 'PUT',
  url: '/v2/organizations/:org/services/:service/disable',
  summary: 'Disable a notification service',
  scope: 'write_notification_services',
  permission: 'manage_notification_services',
  answers: { 200: NotificationService },
  async handler({ ctx, org, caller, params }) {
    return ok(present(ctx, org, await disableService({ ctx, org, caller }, params.service)))
  },
})

export const serviceRoutes = [
  listServicesRoute,
  listProvidersRoute,
  getServiceRoute,
  createServiceRoute,
  updateServiceRoute,
  deleteServiceRoute,
  enableServiceRoute,
  disableServiceRoute,
]
