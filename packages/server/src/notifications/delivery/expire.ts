// Deletes deliveries: those that arrived or were discarded after a week, dead letters after a month.
import { sql } from 'kysely'
import type { Db } from '../../db/pool.ts'

const batchSize = 5000

export async function expireDeliveries(db: Db, now: Date): Promise<void> {
  const at = now.toISOString()
  for (;;) {
    const { rows } = await sql<{ message_id: string }>`
      delete from notification_deliveries where id in (
        select id from notification_deliveries
        where finished_at < ${at}::timestamptz - interval '7 days'
          and (state <> 'dead' or finished_at < ${at}::timestamptz - interval '30 days')
        order by finished_at limit ${batchSize})
      returning message_id`.execute(db)
    if (rows.length < batchSize) break
  }
  // Also the messages of deleted services, whose deliveries are gone.
  await sql`
    delete from notification_messages m
    where m.occurred_at < ${at}::timestamptz - interval '7 days' and not exists (
      select from notification_deliveries d where d.message_id = m.id)`.execute(db)
  await sql`delete from notification_oauth_starts where expires_at < ${at}`.execute(db)
}
