import { call, type Answer } from '../../../api/call.ts'
import { keyOf, query } from '../../../api/queries.ts'
import type { PipelineAddress } from '../queries.ts'

const one = '/v2/organizations/{org}/pipelines/{pipeline}'
const health = `${one}/repository_health` as const
export type RepositoryHealth = Answer<`GET ${typeof health}`>

/** Until the first delivery, and after a test, somebody may be waiting for it. */
const whileWaitingMs = 3000
const afterwardsMs = 60_000

/** `since`: when the newest delivery came that is not the awaited one. Undefined: only the first delivery is awaited. */
export const healthQuery = (params: PipelineAddress, since?: string | null) => ({
  ...query(`GET ${health}`, { params }),
  refetchInterval: ({ state }: { state: { data: RepositoryHealth | undefined } }) => {
    const last = state.data?.last_delivery
    return last?.status === 200 && last.received_at !== since ? afterwardsMs : whileWaitingMs
  },
})

export const healthKey = (params: PipelineAddress) => keyOf(`GET ${health}`, { params })

export const reconcile = (params: PipelineAddress) => call(`POST ${health}/reconcile`, { params })

export const sendTest = (params: PipelineAddress) => call(`POST ${health}/test`, { params })

export const createWebhook = (params: PipelineAddress) => call(`POST ${one}/webhook`, { params })

export const rotateWebhookSecret = (params: PipelineAddress) => call(`POST ${one}/webhook/rotate`, { params })

export const deleteWebhook = (params: PipelineAddress) => call(`DELETE ${one}/webhook`, { params })
