import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import { buildUrl } from '../../builds/artifacts/present.ts'
import { findBuild, getBuild } from '../../addresses/builds.ts'
import { listAttempts } from '../deliveries/queries.ts'
import { DeliveryState } from '../services/schema.ts'
import { presentBuildAttempt, presentBuildDelivery } from './present.ts'
import * as deliveries from './queries.ts'
import { redeliverOfBuild } from './redeliver.ts'
import { BuildDelivery, WholeBuildDelivery } from './schema.ts'

const listDeliveriesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/deliveries',
  summary: 'List what `notify` of a build and its steps has sent or is going to send, oldest first',
  scope: 'read_builds',
  permission: 'read_pipeline',
  query: { state: Type.Optional(DeliveryState) },
  paging: 'pages',
  answers: { 200: Type.Array(BuildDelivery) },
  async handler({ ctx, org, params, query, url }) {
    const build = await getBuild(ctx.db, org.id, params)
    const page = readPage(url)
    const rows = await deliveries.listOfBuild(ctx.db, org.id, build.id, query.state, page)
    return pageAnswer(page, rows, (row) =>
      presentBuildDelivery(buildUrl(ctx.config.url, org.slug, params.pipeline, build.number), row),
    )
  },
})

const getDeliveryRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/deliveries/:delivery',
  summary: 'Get a delivery that `notify` asked for, with every attempt',
  scope: 'read_builds',
  permission: 'read_pipeline',
  answers: { 200: WholeBuildDelivery },
  async handler({ ctx, org, params }) {
    const build = await findBuild(ctx.db, org.id, params)
    const delivery = build && (await deliveries.findOfBuild(ctx.db, org.id, build.id, params.delivery))
    if (build === undefined || delivery === undefined) throw notFound('No delivery found')
    return ok({
      ...presentBuildDelivery(buildUrl(ctx.config.url, org.slug, params.pipeline, build.number), delivery),
      attempts: (await listAttempts(ctx.db, org.id, delivery.id)).map(presentBuildAttempt),
    })
  },
})

const redeliverRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/builds/:build/deliveries/:delivery/redeliver',
  summary: 'Send a delivery that `notify` asked for again, with the same id and content',
  scope: 'write_builds',
  permission: 'build_pipeline',
  answers: { 200: BuildDelivery },
  async handler({ ctx, org, params }) {
    const build = await getBuild(ctx.db, org.id, params)
    const delivery = await redeliverOfBuild(ctx, org.id, build.id, params.delivery)
    return ok(
      presentBuildDelivery(buildUrl(ctx.config.url, org.slug, params.pipeline, build.number), delivery),
    )
  },
})

export const buildDeliveryRoutes = [listDeliveriesRoute, getDeliveryRoute, redeliverRoute]
