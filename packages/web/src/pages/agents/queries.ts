import type { Answer } from '../../api/call.ts'
import { call } from '../../api/call.ts'
import { listQuery } from '../../api/queries.ts'

const agents = 'GET /v2/organizations/{org}/agents'
const path = '/v2/organizations/{org}/agents/{agent}'

export type Agent = Answer<typeof agents>[number]

export const agentsQuery = (org: string, filters: { state?: 'all' | 'lost'; cluster_queue_id?: string }) =>
  listQuery(agents, { params: { org }, query: { per_page: 100, ...filters } })

export const agentJobsQuery = (org: string, agent: string) => ({
  ...listQuery(`GET ${path}/jobs`, { params: { org, agent }, query: { per_page: 30 } }),
  refetchInterval: 15_000,
})

export const pauseAgent = (org: string, agent: string, note: string) =>
  call(`PUT ${path}/pause`, { params: { org, agent }, body: note === '' ? {} : { note } })

export const resumeAgent = (org: string, agent: string) =>
  call(`PUT ${path}/resume`, { params: { org, agent } })

export const stopAgent = (org: string, agent: string) =>
  call(`PUT ${path}/stop`, { params: { org, agent }, body: { force: false } })
