import type { Static } from 'typebox'
import { pipelineUrl } from '../pipelines/present.ts'
import type { DeliveryRow, WholeDeliveryRow } from './queries.ts'
import type { TriggerDelivery, WholeTriggerDelivery } from './schema.ts'

export function presentTriggerDelivery(
  url: string,
  orgSlug: string,
  row: DeliveryRow,
): Static<typeof TriggerDelivery> {
  const pipeline = pipelineUrl(url, orgSlug, row.pipeline_slug)
  const { build_id: id, build_number: number } = row
  return {
    id: row.id,
    url: `${pipeline}/triggers/${row.trigger_id}/deliveries/${row.id}`,
    received_at: row.received_at,
    status: row.status,
    message: row.message,
    build: id === null || number === null ? null : { id, number, url: `${pipeline}/builds/${number}` },
    body_bytes: row.body_bytes,
  }
}

export const presentWhole = (
  url: string,
  orgSlug: string,
  row: WholeDeliveryRow,
): Static<typeof WholeTriggerDelivery> => ({
  ...presentTriggerDelivery(url, orgSlug, row),
  headers: row.headers,
  body: row.body,
})
