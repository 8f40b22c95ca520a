import { Type } from 'typebox'
import type { Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { noContent } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import * as pipelines from '../pipelines/queries.ts'
import { deleteCache, deleteCaches } from './delete.ts'
import { presentCache } from './present.ts'
import * as caches from './queries.ts'
import { Cache, cacheFilters } from './schema.ts'

const listCachesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/caches',
  summary: 'List the caches of a pipeline on agents that are not hosted, most recently used first',
  scope: 'read_pipelines',
  permission: 'read_pipeline',
  query: cacheFilters,
  paging: 'pages',
  answers: { 200: Type.Array(Cache) },
  async handler({ ctx, org, params, query, url }) {
    const pipeline = await getPipeline(ctx, org, params.pipeline)
    const page = readPage(url)
    const { name, branch } = query
    const rows = await caches.listOfPipeline(ctx.db, org.id, pipeline.id, { name, branch, ...page })
    return pageAnswer(page, rows, presentCache)
  },
})

const deleteCachesRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline/caches',
  summary: 'Delete the caches of a pipeline: all, or those of a name or branch',
  scope: 'write_pipelines',
  permission: 'build_pipeline',
  query: cacheFilters,
  answers: { 204: null },
  async handler({ ctx, org, caller, params, query: { name, branch } }) {
    const pipeline = await getPipeline(ctx, org, params.pipeline)
    await deleteCaches({ ctx, org, caller }, pipeline, { name, branch })
    return noContent()
  },
})

const deleteCacheRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/pipelines/:pipeline/caches/:cache',
  summary: 'Delete a cache; the next job starts without it',
  scope: 'write_pipelines',
  permission: 'build_pipeline',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await getPipeline(ctx, org, params.pipeline)
    await deleteCache({ ctx, org, caller }, pipeline, params.cache)
    return noContent()
  },
})

async function getPipeline(
  ctx: Context,
  org: Organization,
  slug: string,
): Promise<{ id: string; slug: string }> {
  const pipeline = await pipelines.findIdBySlug(ctx.db, org.id, slug)
  if (pipeline === undefined) throw notFound('No pipeline found')
  return pipeline
}

export const cacheRoutes = [listCachesRoute, deleteCachesRoute, deleteCacheRoute]
