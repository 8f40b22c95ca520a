import { query } from '../../api/queries.ts'

export const clustersQuery = (org: string) =>
  query('GET /v2/organizations/{org}/clusters', {
    params: { org },
    query: { per_page: 100, include_viewer: true },
  })
