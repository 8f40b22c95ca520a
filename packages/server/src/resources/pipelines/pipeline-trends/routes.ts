import { Type } from 'typebox'
import { okJson } from '../../../http/answer.ts'
import { linkHeader } from '../../../http/links.ts'
import { pageLinks, readLongPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { listTrends } from './queries.ts'
import { PipelineTrend } from './schema.ts'

const listPipelineTrendsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipeline-trends',
  summary: 'List the last builds, the speed and the reliability of pipelines that the caller may see',
  scope: 'read_builds',
  permission: 'member',
  query: {
    pipeline: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 200,
        description: 'Slugs of pipelines, all in one response. Without any: every pipeline, in pages.',
      }),
    ),
    include_pipeline: Type.Optional(
      Type.Boolean({
        description: 'Also the name and marks of each pipeline, enough for a list of all. Default false.',
      }),
    ),
  },
  paging: 'long pages',
  answers: { 200: Type.Array(PipelineTrend) },
  async handler({ ctx, org, caller, query, url }) {
    const { pipeline: slugs, include_pipeline: includePipeline } = query
    if (slugs !== undefined)
      return okJson(inArray(await listTrends(ctx.db, org, caller, ctx.now(), { slugs, includePipeline })))
    const page = readLongPage(url)
    const trends = await listTrends(ctx.db, org, caller, ctx.now(), { ...page, includePipeline })
    return {
      ...okJson(inArray(trends.slice(0, page.perPage))),
      headers: linkHeader(pageLinks(page, trends.length > page.perPage)),
    }
  },
})

const inArray = (items: readonly string[]): string => `[${items.join(',')}]`

export const pipelineTrendRoutes = [listPipelineTrendsRoute]
