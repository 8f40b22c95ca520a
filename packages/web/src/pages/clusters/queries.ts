import { call } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const clusters = '/v2/organizations/{org}/clusters'

type NewCluster = NonNullable<Operations[`POST ${typeof clusters}`]['body']>

export const clustersQuery = (org: string) =>
  query(`GET ${clusters}`, { params: { org }, query: { per_page: 100, include_viewer: true } })

export const createCluster = (org: string, body: NewCluster, idempotencyKey: string) =>
  call(`POST ${clusters}`, { params: { org }, body, idempotencyKey })
