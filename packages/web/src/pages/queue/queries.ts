import { call, type Answer } from '../../api/call.ts'
import type { Operations } from '../../api/operations.ts'
import { listQuery, query } from '../../api/queries.ts'
import type { QueueAddress } from '../../api/resource-queries.ts'

const queue = '/v2/organizations/{org}/clusters/{cluster}/queues/{queue}'

export type WaitingJob = Answer<`GET ${typeof queue}/jobs`>[number]
export type Metrics = Answer<`GET ${typeof queue}/metrics`>

type QueueChange = NonNullable<Operations[`PATCH ${typeof queue}`]['body']>

export const updateQueue = (params: QueueAddress, body: QueueChange) =>
  call(`PATCH ${queue}`, { params, body })

export const deleteQueue = (params: QueueAddress) => call(`DELETE ${queue}`, { params })

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
