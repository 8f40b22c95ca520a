import { listQuery } from '../../api/queries.ts'

export const pipelinesQuery = (org: string) =>
  listQuery('GET /v2/organizations/{org}/pipelines', { params: { org }, query: { per_page: 100 } })
