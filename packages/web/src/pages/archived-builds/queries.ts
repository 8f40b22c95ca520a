import { listQuery, query } from '../../api/queries.ts'

const counts = 'GET /v2/organizations/{org}/archived_builds'

export const archivedBuildsQuery = (org: string, pipeline: string) =>
  listQuery('GET /v2/organizations/{org}/pipelines/{pipeline}/archived_builds', {
    params: { org, pipeline },
    query: { per_page: 50 },
  })

/** No row: the pipeline has no archived builds. */
export const archivedCountQuery = (org: string, pipeline: string) =>
  query(counts, { params: { org }, query: { 'pipeline[]': [pipeline] } })

export const archivedCountsQuery = (org: string) =>
  listQuery(counts, { params: { org }, query: { per_page: 100 } })
