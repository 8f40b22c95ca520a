import { call } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const clusters = '/v2/organizations/{org}/clusters'

type NewCluster = NonNullable<Operations[`POST ${typeof clusters}`]['body']>

export const clustersQuery = (org: string) =>
  query(`GET ${clusters}`, { params: { org }, query: { per_page: 100, include_viewer: true } })

/** The machines of hosted queues. None: the installation runs no hosted clusters. They change with a restart only. */
export const shapesQuery = (org: string) => ({
  ...query('GET /v2/organizations/{org}/instance_shapes', { params: { org } }),
  staleTime: 60 * 60_000,
})

export const createCluster = (org: string, body: NewCluster, idempotencyKey: string) =>
  call(`POST ${clusters}`, { params: { org }, body, idempotencyKey })
