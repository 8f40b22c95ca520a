// Deletes deliveries: those that arrived or were discarded after a week, dead letters after a month. Messages and attempts, which
// are far larger, are dropped by the week; those of dead letters stay.
import { sql, type RawBuilder } from 'kysely'
import { dropPartitions, firstUuidAt, type Partition } from '../../db/partitions.ts'
import type { Db } from '../../db/pool.ts'

const batchSize = 5000
const keptDays = 7
/** More dead letters than this stay with everything else of their week, because moving them takes too long. */
const mostKept = 2000

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
  await sql`delete from notification_log_entries where message_id < ${firstUuidAt(weekBefore(now))}`.execute(
    db,
  )
  await sql`delete from notification_oauth_starts where expires_at < ${at}`.execute(db)
}

/** Deletes messages and attempts of deliveries that are deleted. */
export async function expireMessages(db: Db, now: Date): Promise<void> {
  const before = weekBefore(now)
  await dropWithoutDelivery(db, 'notification_messages', before, sql.ref('message_id'))
  await dropWithoutDelivery(db, 'notification_attempts', before, sql.ref('id'))
  await sql`
    delete from notification_messages_default m where m.occurred_at < ${before.toISOString()} and not exists (
      select from notification_deliveries d where d.message_id = m.id)`.execute(db)
  await sql`
    delete from notification_attempts_default a where a.started_at < ${before.toISOString()} and not exists (
      select from notification_deliveries d where d.id = a.delivery_id)`.execute(db)
}

const weekBefore = (now: Date) => new Date(now.getTime() - keptDays * 24 * 60 * 60 * 1000)

async function dropWithoutDelivery(
  db: Db,
  table: 'notification_messages' | 'notification_attempts',
  before: Date,
  column: RawBuilder<unknown>,
): Promise<void> {
  // Literals, because the statement that moves the rows takes no parameters.
  const keep = ({ from, to }: Partition) => sql`
    select ${column} from notification_deliveries
    where ${column} < ${sql.lit(to)} ${from === null ? sql`` : sql`and ${column} >= ${sql.lit(from)}`}`
  await dropPartitions(db, table, before, {
    keep,
    async mayDrop(trx, partition) {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from (${keep(partition)} limit ${mostKept + 1}) kept`.execute(trx)
      return (rows[0]?.count ?? 0) <= mostKept
    },
  })
}
