import { queryOptions } from '@tanstack/react-query'
import { fetchWithin } from '../../api/fetch-within.ts'
import { call, type Answer } from '../../api/call.ts'
import { query } from '../../api/queries.ts'

const cluster = '/v2/organizations/{org}/clusters/{cluster}'

export type Cluster = Answer<`GET ${typeof cluster}`>
export type Queue = Answer<`GET ${typeof cluster}/queues`>[number]

export const queuesQuery = (org: string, id: string) =>
  query(`GET ${cluster}/queues`, { params: { org, cluster: id }, query: { per_page: 100 } })

export const tokensQuery = (org: string, id: string) =>
  query(`GET ${cluster}/tokens`, { params: { org, cluster: id }, query: { per_page: 100 } })

export const createToken = (org: string, id: string, description: string, idempotencyKey: string) =>
  call(`POST ${cluster}/tokens`, { params: { org, cluster: id }, body: { description }, idempotencyKey })

export const deleteToken = (org: string, id: string, token: string) =>
  call(`DELETE ${cluster}/tokens/{token}`, { params: { org, cluster: id, token } })

export interface AgentDownload {
  file: string
  sha256: string
}

/** The package of the agent that this server hands out. */
export const agentDownloadQuery = queryOptions({
  queryKey: ['agent download'],
  staleTime: Infinity,
  async queryFn({ signal }): Promise<AgentDownload> {
    const { ok, text } = await fetchWithin('/downloads/SHA256SUMS', { signal })
    const [sha256, file] = text.split(/\s+/)
    if (!ok || sha256 === undefined || file === undefined)
      throw new Error('This server has no agent to hand out. Its log has the reason.')
    return { sha256, file }
  },
})
