import type { Answer } from '../../../api/call.ts'
import { listQuery, query } from '../../../api/queries.ts'
import type { PipelineAddress } from '../queries.ts'

const org = '/v2/organizations/{org}'

export type PipelineTeam = Answer<`GET ${typeof org}/pipelines/{pipeline}/teams`>[number]

export const pipelineTeamsQuery = (params: PipelineAddress) =>
  listQuery(`GET ${org}/pipelines/{pipeline}/teams`, { params, query: { per_page: 100 } })

export const administratorsQuery = (slug: string) =>
  query(`GET ${org}/members`, { params: { org: slug }, query: { role: 'admin', per_page: 100 } })

export const teamMembersQuery = (slug: string, team: string) =>
  query(`GET ${org}/teams/{team}/members`, { params: { org: slug, team }, query: { per_page: 100 } })
