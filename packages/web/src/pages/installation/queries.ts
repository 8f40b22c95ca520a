import type { Answer } from '../../api/call.ts'
import { query } from '../../api/queries.ts'

export type Installation = Answer<'GET /v2/installation'>

/** Read again while somebody looks. */
export const installationQuery = () => ({
  ...query('GET /v2/installation', { params: {} }),
  refetchInterval: 30_000,
})
