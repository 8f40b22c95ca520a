import type { Static } from 'typebox'
import { serviceUrl } from '../services/present.ts'
import type { AttemptRow, DeliveryRow } from './queries.ts'
import type { Attempt, Delivery } from './schema.ts'

export function presentDelivery(
  url: string,
  orgSlug: string,
  serviceId: string,
  delivery: DeliveryRow,
): Static<typeof Delivery> {
  const service = serviceUrl(url, orgSlug, serviceId)
  return {
    id: delivery.id,
    url: `${service}/deliveries/${delivery.id}`,
    service_url: service,
    event: delivery.event,
    state: delivery.state,
    attempts_count: delivery.attempts,
    next_attempt_at: delivery.next_attempt_at,
    build_url: delivery.build_url,
    occurred_at: delivery.occurred_at,
    created_at: delivery.created_at,
    finished_at: delivery.finished_at,
  }
}

export const presentAttempt = (attempt: AttemptRow): Static<typeof Attempt> => ({
  number: attempt.number,
  started_at: attempt.started_at,
  duration_ms: attempt.duration_ms,
  status: attempt.exchanges.at(-1)?.response?.status ?? null,
  error: attempt.error,
  exchanges: attempt.exchanges,
})
