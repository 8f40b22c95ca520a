// Deletes events that every reader has read and that are older than they are kept. A stream that continues from further back
// starts over (`event_horizon`).
import { sql } from 'kysely'
import { dropPartitions } from '../db/partitions.ts'
import type { Db } from '../db/pool.ts'

const batchSize = 5000

/** The first transaction that notifications or commit statuses may not have read. */
const firstUnread = sql<number>`
  least((select min(from_xid) from notification_cursor), (select min(xid) from commit_status_cursor))`

export async function expireEvents(db: Db, now: Date, days: number): Promise<void> {
  const before = new Date(now.getTime() - days * 24 * 60 * 60 * 1000)
  await dropPartitions(db, 'events', before, {
    async mayDrop(trx, { to }) {
      const { rows } = await sql<{ newest: number | null; unread: number }>`
        select max(xid) as newest, ${firstUnread} as unread from events where created_at < ${to}`.execute(trx)
      const { newest = null, unread = 0 } = rows[0] ?? {}
      if (newest === null) return true
      if (newest >= unread) return false
      await sql`update event_horizon set xid = greatest(xid, ${newest}::bigint)`.execute(trx)
      return true
    },
  })
  await expireFromDefault(db, before)
}

async function expireFromDefault(db: Db, before: Date): Promise<void> {
  for (let deleted = batchSize; deleted === batchSize;) {
    const { rows } = await sql<{ count: number }>`
      with deleted as (
        delete from events_default where id in (
          select id from events_default
          where created_at < ${before.toISOString()} and xid < ${firstUnread} limit ${batchSize})
        returning xid
      ), moved as (
        update event_horizon set xid = greatest(xid, (select max(xid) from deleted))
        where exists (select from deleted)
      )
      select count(*)::int as count from deleted`.execute(db)
    deleted = rows[0]?.count ?? 0
  }
}
