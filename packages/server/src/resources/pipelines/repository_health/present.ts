import type { Static } from 'typebox'
import type { HealthRow } from './queries.ts'
import type { RepositoryHealth } from './schema.ts'

export const presentHealth = (row: HealthRow): Static<typeof RepositoryHealth> => ({
  last_delivery:
    row.received_at === null
      ? null
      : {
          received_at: row.received_at,
          event: row.event ?? '',
          status: row.status ?? 0,
          message: row.message ?? '',
        },
  reconciled_at: row.polled_at,
  next_reconcile_at: row.next_poll_at,
  reconcile_error: row.error,
  refs_waiting: row.refs_waiting ?? 0,
  pushes_last_7_days: row.pushes,
  pushes_without_delivery_last_7_days: row.undelivered,
})
