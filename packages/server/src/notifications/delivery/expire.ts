// Deletes deliveries: those that arrived or were discarded after a week, dead letters after a month. Messages and attempts, which
// are far larger, are dropped by the week; those of dead letters stay.
import { sql, type RawBuilder } from 'kysely'
import { dropPartitions, firstUuidAt, type Partition } from '../../db/partitions.ts'
import { changeRows, type LoopContext } from '../../db/each-row.ts'
import type { Db } from '../../db/pool.ts'
import { inLongTransaction } from '../../db/transaction.ts'

const keptDays = 7
/** A statement that deletes everything that is too old may take longer than the statements of requests. */
const deleteSeconds = 600
/** More dead letters than this stay with everything else of their week, because moving them takes too long. */
const mostKept = 2000

export async function expireDeliveries(ctx: LoopContext): Promise<void> {
  const now = ctx.now()
  const at = now.toISOString()
  await changeRows(ctx, 'deliveries_expired', {
    table: 'notification_deliveries',
    key: sql`r.id`,
    where: sql`
      r.finished_at < ${at}::timestamptz - interval '7 days'
      and (r.state <> 'dead' or r.finished_at < ${at}::timestamptz - interval '30 days')`,
  })
  await inLongTransaction(ctx.db, deleteSeconds, (trx) =>
    sql`delete from notification_log_entries where message_id < ${firstUuidAt(weekBefore(now))}`.execute(trx),
  )
  await sql`delete from notification_oauth_starts where expires_at < ${at}`.execute(ctx.db)
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
