import { listQuery } from '../../api/queries.ts'

export const suitesQuery = (org: string) =>
  listQuery('GET /v2/organizations/{org}/suites', { params: { org }, query: { per_page: 100 } })
