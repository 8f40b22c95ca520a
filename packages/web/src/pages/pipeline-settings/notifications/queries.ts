import { listQuery } from '../../../api/queries.ts'
import type { Answer } from '../../../api/call.ts'

const services = 'GET /v2/organizations/{org}/services'

export type Service = Answer<typeof services>['items'][number]

export const servicesQuery = (org: string) =>
  listQuery(services, { params: { org }, query: { per_page: 100 } })
