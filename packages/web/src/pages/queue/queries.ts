import { call, type Answer } from '../../api/call.ts'
import { listQuery, query } from '../../api/queries.ts'
import type { QueueAddress } from '../../api/resource-queries.ts'

const queue = '/v2/organizations/{org}/clusters/{cluster}/queues/{queue}'

export type WaitingJob = Answer<`GET ${typeof queue}/jobs`>[number]
export type Metrics = Answer<`GET ${typeof queue}/metrics`>

export const metricsQuery = (params: QueueAddress) => ({
  ...query(`GET ${queue}/metrics`, { params }),
  refetchInterval: 15_000,
})

export const waitingQuery = (params: QueueAddress) => ({
  ...listQuery(`GET ${queue}/jobs`, { params, query: { per_page: 50 } }),
  refetchInterval: 15_000,
})

export const pauseDispatch = (params: QueueAddress, note: string) =>
  call(`POST ${queue}/pause_dispatch`, { params, body: note === '' ? {} : { dispatch_paused_note: note } })

export const resumeDispatch = (params: QueueAddress) => call(`POST ${queue}/resume_dispatch`, { params })
