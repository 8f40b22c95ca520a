// How far the relay is behind the outbox.
import { sql } from 'kysely'
import { prepared } from '../../db/statement.ts'
import type { DatabaseMetric } from '../../metrics/database-metrics.ts'

/** Counting ends here: a larger number would say no more. */
const mostCounted = 100_000

export const measureRelay: DatabaseMetric = (makeGauge) => {
  const unread = makeGauge(
    'millrace_relay_unread_events',
    `Events of the outbox that the relay has not read; counted up to ${mostCounted}.`,
  )
  const lag = makeGauge('millrace_relay_lag_seconds', 'Age of the oldest event that the relay has not read.')
  return async (db) => {
    const { rows } = await findLag(mostCounted).execute(db)
    unread.set(rows[0]?.events ?? 0)
    lag.set(rows[0]?.seconds ?? 0)
  }
}

const isUnread = sql`e.xid >= c.from_xid and (e.xid >= c.to_xid or e.id > c.last_event_id)`

const findLag = prepared(
  (most: number) => sql<{ events: number; seconds: number }>`
    select
      (select count(*)::int from (select from events e where ${isUnread} limit ${most}) u) as events,
      coalesce((select greatest(extract(epoch from now() - e.created_at), 0)::float8
        from events e where ${isUnread} order by e.xid, e.id limit 1), 0) as seconds
    from notification_cursor c`,
)
