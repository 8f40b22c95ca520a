import type { Service } from '../../../notifications/provider.ts'
import { latestVersion, webhookSender } from '../../../notifications/providers/webhook.ts'
import type { LoggedEventRow } from './queries.ts'

export function presentLoggedEvent(service: Service, row: LoggedEventRow): object {
  const { id, event, occurred_at: occurredAt, data } = row
  const latest = { ...service, settings: { version: latestVersion } }
  const body = webhookSender.preview?.(latest, { id, event, occurredAt, ...data }) ?? '{}'
  return { id, occurred_at: occurredAt, ...(JSON.parse(body) as object) }
}
