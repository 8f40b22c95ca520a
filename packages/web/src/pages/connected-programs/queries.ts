import { call, type Answer } from '../../api/call.ts'
import { listQuery } from '../../api/queries.ts'

const programs = '/v2/organizations/{org}/connected_programs'

export type ConnectedProgram = Answer<`GET ${typeof programs}`>[number]

export const programsQuery = (org: string) =>
  listQuery(`GET ${programs}`, { params: { org }, query: { per_page: 100 } })

export const revokeProgram = (org: string, id: string) =>
  call(`DELETE ${programs}/{access_token}`, { params: { org, access_token: id } })
