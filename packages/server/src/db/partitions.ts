// Tables that grow are partitioned by time, so that old rows go with their partition: a DELETE would leave as many dead rows.
// Partitions are made weeks ahead. Rows that fit into no partition go to the default one (`events_default`), so an insert
// never fails: those of an installation whose workers were off for a long time, logs of jobs that waited longer than their
// partition was kept, and ids from machines whose clock is wrong.
//
// Statements that take long locks wait for them only briefly, and others wait behind them no longer. Nothing is made or dropped
// while a backup runs, since a backup holds its locks until it ends.
import { setTimeout as delay } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import { isDatabaseBusy } from './away.ts'
import type { Tables } from './generated/tables.ts'
import { toIso, type Db, type Trx } from './pool.ts'
import { inTransaction } from './transaction.ts'

interface PartitionedTable {
  /** The column that decides on the partition: a time, or a UUID of version 7, which begins with its time. */
  key: string
  isTime: boolean
  unit: 'week' | 'month'
  /** Set if it lacks the key of the partitions: then each partition has its own. */
  primaryKey?: string
}

export const partitionedTables = {
  events: { key: 'created_at', isTime: true, unit: 'week', primaryKey: 'id' },
  job_log_chunks: { key: 'job_id', isTime: false, unit: 'week' },
  audit_events: { key: 'id', isTime: false, unit: 'month' },
  notification_messages: { key: 'id', isTime: false, unit: 'week' },
  notification_attempts: { key: 'delivery_id', isTime: false, unit: 'week' },
} as const satisfies Partial<Record<keyof Tables, PartitionedTable>>

export type PartitionedName = keyof typeof partitionedTables

export interface Partition {
  table: PartitionedName
  name: string
  /** The first value of the key, and the first one behind the partition, as SQL reads them; null: no limit. */
  from: string | null
  to: string
  startsAt: Date | null
  endsAt: Date
}

const dayMs = 24 * 60 * 60 * 1000
const aheadMs = 28 * dayMs
const lockMs = 100
const attempts = 5
const pauseMs = 500

/** Held shared by backups, exclusively by whoever makes or drops a partition. */
export const partitionLock = 7_206_473_322

/** The least UUID of version 7 with that time. */
export function firstUuidAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

const timeOfUuid = (uuid: string) => new Date(Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16))

/** Without the default partitions. The oldest of each table comes first. */
export async function listPartitions(db: Db): Promise<Partition[]> {
  const { rows } = await sql<{ table: PartitionedName; name: string; bound: string }>`
    select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
    from pg_inherits i join pg_class p on p.oid = i.inhparent join pg_class c on c.oid = i.inhrelid
    where p.relkind = 'p' and p.relnamespace = 'public'::regnamespace
      and p.relname = any (${Object.keys(partitionedTables)}::text[])`.execute(db)
  return rows
    .flatMap(({ table, name, bound }): Partition[] => {
      const [, from, to] = /FROM \((?:MINVALUE|'([^']+)')\) TO \('([^']+)'\)/.exec(bound) ?? []
      if (to === undefined) return []
      const timeOf = (value: string) =>
        partitionedTables[table].isTime ? new Date(toIso(value)) : timeOfUuid(value)
      const startsAt = from === undefined ? null : timeOf(from)
      return [{ table, name, from: from ?? null, to, startsAt, endsAt: timeOf(to) }]
    })
    .toSorted((a, b) => a.endsAt.getTime() - b.endsAt.getTime())
}

/** `postponed`: a backup or other work kept the locks. `occupied`: its rows are in the default partition already. */
type Outcome = 'made' | 'postponed' | 'occupied'

const sentences: Record<Outcome, string> = {
  made: 'Made a partition.',
  postponed: 'A partition could not be made, because its table is in use; trying again within an hour.',
  occupied: 'A partition was not made, because the default partition has rows of its time.',
}

/** Makes the partitions of now and of the next weeks that are missing. If there are none to make, one catalog is read. */
export async function makePartitions(db: Db, now: Date, log: Logger): Promise<void> {
  const existing = await listPartitions(db)
  for (const table of Object.keys(partitionedTables) as PartitionedName[]) {
    const { unit } = partitionedTables[table]
    const own = existing.filter((partition) => partition.table === table)
    for (
      let start = startOf(unit, now);
      start.getTime() < now.getTime() + aheadMs;
      start = endOf(unit, start)
    ) {
      if (own.some(({ startsAt, endsAt }) => (startsAt === null || startsAt <= start) && start < endsAt))
        continue
      const name = `${table}_${start.toISOString().slice(0, 10).replaceAll('-', '')}`
      const outcome = await makePartition(db, table, name, start)
      log.info({ partition: name }, sentences[outcome])
      if (outcome === 'postponed') return
    }
  }
}

async function makePartition(db: Db, table: PartitionedName, name: string, start: Date): Promise<Outcome> {
  const { isTime, unit, primaryKey }: PartitionedTable = partitionedTables[table]
  const bound = (time: Date) => sql.lit(isTime ? time.toISOString() : firstUuidAt(time))
  try {
    const isMade = await withLocks(db, async (trx) => {
      // ATTACH locks out no reader or writer of other partitions, CREATE TABLE … PARTITION OF would.
      await sql`create table ${sql.id(name)} (like ${sql.id(table)}
        including defaults including constraints including storage)`.execute(trx)
      if (primaryKey !== undefined)
        await sql`alter table ${sql.id(name)} add primary key (${sql.id(primaryKey)})`.execute(trx)
      await sql`alter table ${sql.id(table)} attach partition ${sql.id(name)}
        for values from (${bound(start)}) to (${bound(endOf(unit, start))})`.execute(trx)
      return true
    })
    return isMade ? 'made' : 'postponed'
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    // Another process was faster.
    if (error.code === '42P07') return 'made'
    if (error.code === '23514') return 'occupied'
    throw error
  }
}

interface Drop {
  /** Is called while nobody else reads or writes the table. False: the partition stays. */
  mayDrop?(trx: Trx, partition: Partition): Promise<boolean>
  /** Selects the keys of rows that stay. They move to the default partition. */
  keep?(partition: Partition): RawBuilder<unknown>
}

/** Drops the partitions whose rows are all older than `before`. Returns their names. */
export async function dropPartitions(
  db: Db,
  table: PartitionedName,
  before: Date,
  { mayDrop, keep }: Drop = {},
): Promise<string[]> {
  const dropped: string[] = []
  const expired = (await listPartitions(db)).filter((one) => one.table === table && one.endsAt <= before)
  for (const partition of expired) {
    const isDropped = await withLocks(db, async (trx) => {
      await sql`lock table only ${sql.id(table)} in access exclusive mode`.execute(trx)
      if (mayDrop !== undefined && !(await mayDrop(trx, partition))) return false
      if (keep !== undefined)
        await sql`create temporary table kept_rows on commit drop as select * from ${sql.id(partition.name)}
          where ${sql.id(partitionedTables[table].key)} in (${keep(partition)})`.execute(trx)
      await sql`drop table ${sql.id(partition.name)}`.execute(trx)
      if (keep !== undefined) await sql`insert into ${sql.id(table)} select * from kept_rows`.execute(trx)
      return true
    })
    if (isDropped) dropped.push(partition.name)
  }
  return dropped
}

/** False also if the locks were not free in several attempts, or while a backup runs. */
async function withLocks(db: Db, work: (trx: Trx) => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await inTransaction(db, async (trx) => {
        const { rows } = await sql<{ is_free: boolean }>`
          select pg_try_advisory_xact_lock(${partitionLock}) as is_free`.execute(trx)
        if (rows[0]?.is_free !== true) return false
        await sql`set local lock_timeout = ${sql.lit(lockMs)}`.execute(trx)
        return work(trx)
      })
    } catch (error) {
      if (!isDatabaseBusy(error)) throw error
      if (attempt === attempts) return false
      await delay(pauseMs)
    }
  }
}

/** Weeks begin on Monday, in UTC. */
function startOf(unit: PartitionedTable['unit'], time: Date): Date {
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()]
  return new Date(
    unit === 'month' ? Date.UTC(year, month) : Date.UTC(year, month, day - ((time.getUTCDay() + 6) % 7)),
  )
}

function endOf(unit: PartitionedTable['unit'], start: Date): Date {
  if (unit === 'week') return new Date(start.getTime() + 7 * dayMs)
  return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1))
}
