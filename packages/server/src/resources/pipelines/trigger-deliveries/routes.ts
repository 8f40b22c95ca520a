import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import * as triggers from '../triggers/queries.ts'
import { presentTriggerDelivery, presentWhole } from './present.ts'
import * as deliveries from './queries.ts'
import { TriggerDelivery, WholeTriggerDelivery } from './schema.ts'

const listTriggerDeliveriesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers/:trigger/deliveries',
  summary: 'List the last 50 requests that a trigger has received, newest first',
  scope: 'read_pipelines',
  permission: 'edit_pipeline',
  paging: 'pages',
  answers: { 200: Type.Array(TriggerDelivery) },
  async handler({ ctx, org, params, url }) {
    const trigger = await triggers.findInPipeline(ctx.db, org.id, params.pipeline, params.trigger)
    if (trigger === undefined) throw notFound('No trigger found')
    const page = readPage(url)
    const rows = await deliveries.listOfTrigger(ctx.db, org.id, params, page)
    return pageAnswer(page, rows, (row) => presentTriggerDelivery(ctx.config.url, org.slug, row))
  },
})

const getTriggerDeliveryRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/triggers/:trigger/deliveries/:delivery',
  summary: 'Get a request that a trigger has received, with its headers and body',
  scope: 'read_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: WholeTriggerDelivery },
  async handler({ ctx, org, params }) {
    const delivery = await deliveries.findOfTrigger(ctx.db, org.id, params, params.delivery)
    if (delivery === undefined) throw notFound('No delivery found')
    return ok(presentWhole(ctx.config.url, org.slug, delivery))
  },
})

export const triggerDeliveryRoutes = [listTriggerDeliveriesRoute, getTriggerDeliveryRoute]
