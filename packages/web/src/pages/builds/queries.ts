import { listQuery } from '../../api/queries.ts'
import { toQuery, type BuildFilters } from './filters.ts'

export const buildsQuery = (org: string, filters: BuildFilters, userId: string | undefined) =>
  listQuery('GET /v2/organizations/{org}/builds', { params: { org }, query: toQuery(filters, userId) })

export const buildsOfPipelineQuery = (
  org: string,
  pipeline: string,
  filters: BuildFilters,
  userId: string | undefined,
) =>
  listQuery('GET /v2/organizations/{org}/pipelines/{pipeline}/builds', {
    params: { org, pipeline },
    query: toQuery(filters, userId),
  })
