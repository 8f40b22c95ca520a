import { Type } from 'typebox'
import { created, ok } from '../../../http/answer.ts'
import { cursorAnswer, readCursor } from '../../../http/cursors.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { findSender } from '../../../notifications/providers/table.ts'
import { openRow } from '../services/open.ts'
import * as services from '../services/queries.ts'
import { DeliveryState } from '../services/schema.ts'
import { sendTest } from '../services/send-test.ts'
import { presentAttempt, presentDelivery } from './present.ts'
import * as deliveries from './queries.ts'
import { redeliver } from './redeliver.ts'
import { Delivery, DeliveryList, WholeDelivery } from './schema.ts'

const listDeliveriesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/services/:service/deliveries',
  summary: 'List what a notification service was sent, newest first',
  scope: 'read_notification_services',
  permission: 'manage_notification_services',
  query: { state: Type.Optional(DeliveryState) },
  paging: 'cursor',
  answers: { 200: DeliveryList },
  errors: { 400: 'Both `after` and `before` are given, a cursor is invalid, or `per_page` is out of range.' },
  async handler({ ctx, org, params, query, url }) {
    const service = await services.getInOrg(ctx.db, org.id, params.service)
    const page = readCursor(url, `deliveries ${service.id}`, ctx.keys)
    const rows = await deliveries.listOfService(ctx.db, org.id, service.id, query.state, page)
    return cursorAnswer(
      page,
      rows,
      (row) => ({ at: row.created_at, id: row.id }),
      (row) => presentDelivery(ctx.config.url, org.slug, service.id, row),
    )
  },
})

const getDeliveryRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/services/:service/deliveries/:delivery',
  summary: 'Get a delivery with its payload and every attempt',
  scope: 'read_notification_services',
  permission: 'manage_notification_services',
  answers: { 200: WholeDelivery },
  async handler({ ctx, org, params }) {
    const row = await services.findInOrg(ctx.db, org.id, params.service)
    const delivery = await deliveries.findOfService(ctx.db, org.id, params.service, params.delivery)
    if (row === undefined || delivery === undefined) throw notFound('No delivery found')
    const service = openRow(ctx.keys, row)
    const { data, message_id: id, event, occurred_at: occurredAt } = delivery
    return ok({
      ...presentDelivery(ctx.config.url, org.slug, row.id, delivery),
      payload: findSender(row.provider)?.preview?.(service, { id, event, occurredAt, ...data }) ?? null,
      attempts: (await deliveries.listAttempts(ctx.db, org.id, delivery.id)).map(presentAttempt),
    })
  },
})

const redeliverRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/services/:service/deliveries/:delivery/redeliver',
  summary: 'Send a delivery again, with the same id and payload',
  scope: 'write_notification_services',
  permission: 'manage_notification_services',
  answers: { 200: Delivery },
  errors: { 422: 'The service is disabled or broken.' },
  async handler({ ctx, org, caller, params }) {
    const delivery = await redeliver({ ctx, org, caller }, params.service, params.delivery)
    return ok(presentDelivery(ctx.config.url, org.slug, params.service, delivery))
  },
})

const sendTestRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/services/:service/test',
  summary: 'Send a test message; the answer is its delivery, to be asked what became of it',
  scope: 'write_notification_services',
  permission: 'manage_notification_services',
  answers: { 201: Delivery },
  errors: { 422: 'The service is disabled or broken, or its provider sends nothing.' },
  async handler({ ctx, org, caller, params }) {
    const id = await sendTest({ ctx, org, caller }, params.service)
    const delivery = await deliveries.findOfService(ctx.db, org.id, params.service, id)
    if (delivery === undefined) throw notFound('No notification service found')
    return created(presentDelivery(ctx.config.url, org.slug, params.service, delivery))
  },
})

export const deliveryRoutes = [listDeliveriesRoute, getDeliveryRoute, redeliverRoute, sendTestRoute]
