// Reads the outbox, each event once and in the order in which it happened to its build.
//
// Ids are not enough: a transaction that took its id early may commit late, and a reader that goes by ids would have passed
// it. So the outbox is read in windows of transaction numbers. A window ends where the oldest open transaction begins, so
// nothing can be added to it. Transaction numbers are not enough either: a transaction that began early may have waited for
// the build's lock and written last. Within a window the ids give the order, because they are taken under that lock. A
// transaction that waited for the lock was still open when the other ended, so no window has the later event alone.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../../db/pool.ts'
import { prepared } from '../../db/statement.ts'
import { newestTransaction } from '../../events/newest.ts'
import { oldestOpen } from '../../events/oldest-open.ts'

export interface OutboxEvent {
  id: number
  organization_id: string
  pipeline_id: string | null
  build_id: string | null
  job_id: string | null
  kind: string
  data: EventData
  created_at: string
}

/** Which fields are set depends on the kind. */
interface EventData {
  to?: string
  blocked_state?: 'passed' | 'failed' | 'running' | null
  event_names?: readonly string[]
  step_id?: string
  /** The reason of a promised exit status. */
  reason?: string | null
  agent_id?: string
  cluster_id?: string
  cluster_token_id?: string
  blocked_ip?: string
}

interface Window {
  from_xid: number
  to_xid: number
  last_event_id: number
}

/** Cheap, since it is called several times a second: it reads the cursor and the end of an index. */
export async function hasUnread(db: Db, now: Date): Promise<boolean> {
  const { rows } = await findUnread(now.toISOString()).execute(db)
  return rows[0]?.has ?? false
}

const findUnread = prepared(
  (now: string) => sql<{ has: boolean }>`
    select c.from_xid < c.to_xid or coalesce(${newestTransaction(sql`${now}::timestamptz`)} >= c.to_xid, false) as has
    from notification_cursor c`,
)

interface TakenEvents {
  /** The events that are wanted, in order. */
  events: OutboxEvent[]
  /** How many events were read, wanted or not. */
  read: number
  /** Whether the window has further events. */
  isMore: boolean
}

type TakenRow = { read: number } & (OutboxEvent | { [Field in keyof OutboxEvent]: null })

/**
 * Reads the next events and returns those for which `isWanted` holds, a condition on the row `e` of the outbox. The commit of
 * the transaction moves the cursor behind all of them. null: another worker is reading.
 */
export async function takeEvents(
  trx: Trx,
  most: number,
  isWanted: RawBuilder<boolean>,
): Promise<TakenEvents | null> {
  const window = await openWindow(trx)
  if (window === null) return null
  if (window.from_xid >= window.to_xid) return { events: [], read: 0, isMore: false }

  // Materialized and in the order of the index on xid, so that the planner uses it and sorts by id afterwards. Each event is
  // then found by its id, in the partition of its time: a join could read the whole outbox.
  const { rows } = await sql<TakenRow>`
    with closed as materialized (
      select id, created_at from events
      where xid >= ${window.from_xid} and xid < ${window.to_xid} and id > ${window.last_event_id}
      order by xid, id
    ), page as materialized (
      select id, created_at from closed order by id limit ${most}
    ), total as materialized (
      select count(*)::int as read, max(id) as last_id from page
    ), moved as (
      update notification_cursor c set to_xid = ${window.to_xid},
        from_xid = case when t.read < ${most} then ${window.to_xid}::bigint else ${window.from_xid}::bigint end,
        last_event_id = case when t.read < ${most} then 0 else t.last_id end
      from total t
    )
    select t.read, w.* from total t left join (
      select e.* from page p cross join lateral (
        select e.id, e.organization_id, e.pipeline_id, e.build_id, e.job_id, e.kind, e.data, e.created_at
        from events e where e.id = p.id and e.created_at = p.created_at and ${isWanted} limit 1
      ) e
    ) w on true
    order by w.id`.execute(trx)
  const read = rows[0]?.read ?? 0
  return { events: rows.filter((row) => row.id !== null), read, isMore: read === most }
}

/** The rest of the last window, or else the next one. It is empty when an open transaction may still write to it. */
async function openWindow(trx: Trx): Promise<Window | null> {
  const { rows } = await lockCursor().execute(trx)
  return rows[0] ?? null
}

const lockCursor = prepared(
  () => sql<Window>`
    select c.from_xid, c.last_event_id,
      case when c.from_xid < c.to_xid then c.to_xid else greatest(c.to_xid, ${oldestOpen}) end as to_xid
    from notification_cursor c for update skip locked`,
)
