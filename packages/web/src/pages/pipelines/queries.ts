import { query } from '../../api/queries.ts'
import type { Answer } from '../../api/call.ts'
import { call, callPage, type Page } from '../../api/call.ts'

const pipelines = 'GET /v2/organizations/{org}/pipelines'
const trends = 'GET /v2/organizations/{org}/pipeline-trends'

export type Pipeline = Answer<typeof pipelines>[number]
export type Trend = Answer<typeof trends>[number]

const perPage = 100

/** All pipelines that one may see; a thousand are ten requests. */
export const pipelinesQuery = (org: string) => ({
  queryKey: [pipelines, { org }, 'all'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    readAll((page) =>
      callPage(pipelines, {
        params: { org },
        query: { per_page: perPage, page, include_viewer: true },
        signal,
      }),
    ),
})

export const trendsQuery = (org: string) => ({
  queryKey: [trends, { org }, 'all'],
  queryFn: ({ signal }: { signal: AbortSignal }) =>
    readAll((page) => callPage(trends, { params: { org }, query: { per_page: perPage, page }, signal })),
})

export const trendQuery = (org: string, pipeline: string) =>
  query(trends, { params: { org }, query: { 'pipeline[]': [pipeline] } })

export const setFavorite = (pipelineId: string, isFavorite: boolean) =>
  call(`${isFavorite ? 'PUT' : 'DELETE'} /v2/user/favorites/{pipeline_uuid}`, {
    params: { pipeline_uuid: pipelineId },
  })

async function readAll<Row>(read: (page: number) => Promise<Page<Row>>): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page++) {
    const { rows: more, next } = await read(page)
    rows.push(...more)
    if (next === null) return rows
  }
}
