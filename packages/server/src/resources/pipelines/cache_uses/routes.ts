import { Type } from 'typebox'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import * as pipelines from '../pipelines/queries.ts'
import { presentUses } from './present.ts'
import * as uses from './queries.ts'
import { CacheUses } from './schema.ts'

const listCacheUsesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/cache_uses',
  summary: 'List how often jobs found a cache, by day for 90 days, newest first',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  paging: 'pages',
  answers: { 200: Type.Array(CacheUses) },
  async handler({ ctx, org, params, url }) {
    const pipeline = await pipelines.findIdBySlug(ctx.db, org.id, params.pipeline)
    if (pipeline === undefined) throw notFound('No pipeline found')
    const page = readPage(url)
    const rows = await uses.listOfPipeline(ctx.db, org.id, pipeline.id, page)
    return pageAnswer(page, rows, presentUses)
  },
})

export const cacheUsesRoutes = [listCacheUsesRoute]
