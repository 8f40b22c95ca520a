import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery } from '../../api/queries.ts'

const members = '/v2/organizations/{org}/members'
const pipelines = '/v2/organizations/{org}/pipelines'
const team = '/v2/organizations/{org}/teams/{team}'

export interface TeamAddress {
  org: string
  team: string
}

export type TeamMember = Answer<`GET ${typeof team}/members`>[number]
export type TeamPipeline = Answer<`GET ${typeof team}/pipelines`>[number]
type TeamChange = NonNullable<Operations[`PATCH ${typeof team}`]['body']>

export const teamRoleNames = { member: 'Member', maintainer: 'Maintainer' } as const

export const accessNames = {
  read_only: 'Read',
  build_and_read: 'Build and read',
  manage_build_and_read: 'Manage, build and read',
} as const

export const updateTeam = (params: TeamAddress, body: TeamChange) => call(`PATCH ${team}`, { params, body })

export const deleteTeam = (params: TeamAddress) => call(`DELETE ${team}`, { params })

export const teamMembersQuery = (params: TeamAddress) =>
  listQuery(`GET ${team}/members`, { params, query: { per_page: 100 } })

/** Without a role, the member gets the one that the team gives to those who join. */
export const addMember = (params: TeamAddress, user: string, role?: TeamMember['role']) =>
  call(`POST ${team}/members`, { params, body: { user_id: user, ...(role === undefined ? {} : { role }) } })

export const updateTeamMember = (params: TeamAddress, user: string, role: TeamMember['role']) =>
  call(`PATCH ${team}/members/{user}`, { params: { ...params, user }, body: { role } })

export const deleteTeamMember = (params: TeamAddress, user: string) =>
  call(`DELETE ${team}/members/{user}`, { params: { ...params, user } })

export const teamPipelinesQuery = (params: TeamAddress) =>
  listQuery(`GET ${team}/pipelines`, { params, query: { per_page: 100 } })

export const addPipeline = (
  params: TeamAddress,
  id: string,
  access_level: TeamPipeline['access_level'] = 'build_and_read',
) => call(`POST ${team}/pipelines`, { params, body: { pipeline_id: id, access_level } })

export const updateTeamPipeline = (
  params: TeamAddress,
  pipeline: string,
  access: TeamPipeline['access_level'],
) =>
  call(`PATCH ${team}/pipelines/{team_pipeline}`, {
    params: { ...params, team_pipeline: pipeline },
    body: { access_level: access },
  })

export const deleteTeamPipeline = (params: TeamAddress, pipeline: string) =>
  call(`DELETE ${team}/pipelines/{team_pipeline}`, { params: { ...params, team_pipeline: pipeline } })

const mostFound = 20

export const findMembersKey = (org: string) => [`GET ${members}`, { org }] as const

export async function findMembers(org: string, text: string, signal: AbortSignal) {
  const query = { per_page: mostFound, ...(text === '' ? {} : { q: text }) }
  const found = await call(`GET ${members}`, { params: { org }, query, signal })
  return found.map(({ id, name, email }) => ({ id, name, detail: email }))
}

export const findPipelinesKey = (org: string) => [`GET ${pipelines}`, { org }] as const

/** Only the pipelines whose access the person may give away. */
export async function findPipelines(org: string, text: string, signal: AbortSignal) {
  const query = { per_page: mostFound, include_viewer: true, ...(text === '' ? {} : { name: text }) }
  const found = await call(`GET ${pipelines}`, { params: { org }, query, signal })
  return found
    .filter(({ viewer }) => viewer?.may.edit === true)
    .map(({ id, name, slug }) => ({ id, name, detail: slug }))
}
