import { query } from '../../api/queries.ts'
import type { Answer } from '../../api/call.ts'
import { call, callPage, readAll } from '../../api/call.ts'

const trends = 'GET /v2/organizations/{org}/pipeline-trends'

export type Trend = Answer<typeof trends>[number]

/** What the list shows of a pipeline besides its builds. */
export interface Pipeline extends NonNullable<Trend['pipeline']> {
  id: string
  slug: string
}

const perPage = 500

/** All pipelines that one may see, with their builds; a thousand are two requests. */
export const trendsQuery = (org: string) => ({
  queryKey: [trends, { org }, 'all'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    readAll((page) =>
      callPage(trends, {
        params: { org },
        query: { per_page: perPage, page, include_pipeline: true },
        signal,
      }),
    ),
})

export const pipelinesIn = (rows: readonly Trend[]): Pipeline[] =>
  rows.flatMap(({ pipeline_id: id, pipeline_slug: slug, pipeline }) =>
    pipeline === undefined ? [] : [{ id, slug, ...pipeline }],
  )

export const trendQuery = (org: string, pipeline: string) =>
  query(trends, { params: { org }, query: { 'pipeline[]': [pipeline] } })

export const setFavorite = (pipelineId: string, isFavorite: boolean) =>
  call(`${isFavorite ? 'PUT' : 'DELETE'} /v2/user/favorites/{pipeline_uuid}`, {
    params: { pipeline_uuid: pipelineId },
  })
