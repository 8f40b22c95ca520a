import { call, type Answer } from '../../../api/call.ts'
import type { Operations } from '../../../api/operations.ts'
import { listQuery, query } from '../../../api/queries.ts'
import type { PipelineAddress } from '../queries.ts'

const triggers = '/v2/organizations/{org}/pipelines/{pipeline}/triggers'
const one = `${triggers}/{trigger}` as const

export type Trigger = Answer<`GET ${typeof triggers}`>[number]
export type TriggerFields = NonNullable<Operations[`PATCH ${typeof one}`]['body']>
type NewTrigger = NonNullable<Operations[`POST ${typeof triggers}`]['body']>
export type DryRun = Answer<`POST ${typeof one}/dry_run`>
export type TriggerDelivery = Answer<`GET ${typeof one}/deliveries`>[number]

export const triggersQuery = (params: PipelineAddress) =>
  listQuery(`GET ${triggers}`, { params, query: { per_page: 30 } })

export const deliveriesQuery = (params: PipelineAddress, trigger: string) =>
  listQuery(`GET ${one}/deliveries`, { params: { ...params, trigger }, query: { per_page: 50 } })

export const deliveryQuery = (params: PipelineAddress, trigger: string, delivery: string) =>
  query(`GET ${one}/deliveries/{delivery}`, { params: { ...params, trigger, delivery } })

export const createTrigger = (params: PipelineAddress, body: NewTrigger, idempotencyKey: string) =>
  call(`POST ${triggers}`, { params, body, idempotencyKey })

export const updateTrigger = (params: PipelineAddress, trigger: string, body: TriggerFields) =>
  call(`PATCH ${one}`, { params: { ...params, trigger }, body })

export const rotateTrigger = (params: PipelineAddress, trigger: string) =>
  call(`POST ${one}/rotate`, { params: { ...params, trigger } })

export const deleteTrigger = (params: PipelineAddress, trigger: string) =>
  call(`DELETE ${one}`, { params: { ...params, trigger } })

export const dryRun = (params: PipelineAddress, trigger: string, payload: Record<string, unknown>) =>
  call(`POST ${one}/dry_run`, { params: { ...params, trigger }, body: { payload } })
