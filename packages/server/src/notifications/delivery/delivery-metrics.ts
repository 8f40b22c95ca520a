// Deliveries that were not made yet.
import { sql } from 'kysely'
import { prepared } from '../../db/statement.ts'
import type { DatabaseMetric } from '../../metrics/database-metrics.ts'

export const measureDeliveries: DatabaseMetric = (makeGauge) => {
  const pending = makeGauge('millrace_deliveries_pending', 'Notifications that are still to be delivered.')
  const oldest = makeGauge(
    'millrace_deliveries_oldest_pending_seconds',
    'Age of the oldest notification that is still to be delivered.',
  )
  return async (db) => {
    const { rows } = await countPending().execute(db)
    pending.set(rows[0]?.deliveries ?? 0)
    oldest.set(rows[0]?.seconds ?? 0)
  }
}

const countPending = prepared(
  () => sql<{ deliveries: number; seconds: number }>`
    select count(*)::int as deliveries,
      greatest(coalesce(extract(epoch from now() - min(created_at)), 0), 0)::float8 as seconds
    from notification_deliveries where state = 'pending'`,
)
