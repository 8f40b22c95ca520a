import { queryOptions } from '@tanstack/react-query'
import { fetchWithin } from '../../api/fetch-within.ts'
import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { query } from '../../api/queries.ts'

const cluster = '/v2/organizations/{org}/clusters/{cluster}'

export interface ClusterAddress {
  org: string
  cluster: string
}

export type Cluster = Answer<`GET ${typeof cluster}`>
export type Queue = Answer<`GET ${typeof cluster}/queues`>[number]
type NewQueue = NonNullable<Operations[`POST ${typeof cluster}/queues`]['body']>
type ClusterChange = NonNullable<Operations[`PATCH ${typeof cluster}`]['body']>

export const updateCluster = (params: ClusterAddress, body: ClusterChange) =>
  call(`PATCH ${cluster}`, { params, body })

export const deleteCluster = (params: ClusterAddress) => call(`DELETE ${cluster}`, { params })

export const createQueue = (params: ClusterAddress, body: NewQueue, idempotencyKey: string) =>
  call(`POST ${cluster}/queues`, { params, body, idempotencyKey })

/** The machines of hosted queues. None: the installation runs no hosted clusters. They change with a restart only. */
export const shapesQuery = (org: string) => ({
  ...query('GET /v2/organizations/{org}/instance_shapes', { params: { org } }),
  staleTime: 60 * 60_000,
})

export const queuesQuery = (org: string, id: string) =>
  query(`GET ${cluster}/queues`, {
    params: { org, cluster: id },
    query: { per_page: 100, include_counts: true },
  })

/** For a page that shows the queues. The event stream tells of those that are paused, not of new and deleted ones. */
export const followedQueuesQuery = (org: string, id: string) => ({
  ...queuesQuery(org, id),
  refetchInterval: 15_000,
})

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
