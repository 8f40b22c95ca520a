import { Type } from 'typebox'
import { okJson } from '../../../http/answer.ts'
import { linkHeader } from '../../../http/links.ts'
import { pageLinks, readPage } from '../../../http/paging.ts'
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
  },
  paging: 'pages',
  answers: { 200: Type.Array(PipelineTrend) },
  async handler({ ctx, org, caller, query, url }) {
    if (query.pipeline !== undefined)
      return okJson(inArray(await listTrends(ctx.db, org, caller, ctx.now(), { slugs: query.pipeline })))
    const page = readPage(url)
    const trends = await listTrends(ctx.db, org, caller, ctx.now(), page)
    return {
      ...okJson(inArray(trends.slice(0, page.perPage))),
      headers: linkHeader(pageLinks(page, trends.length > page.perPage)),
    }
  },
})

const inArray = (items: readonly string[]): string => `[${items.join(',')}]`

export const pipelineTrendRoutes = [listPipelineTrendsRoute]
