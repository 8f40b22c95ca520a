// Reads the outbox, each event once and in the order in which it happened to its build.
//
// Ids are not enough: a transaction that took its id early may commit late, and a reader that goes by ids would have passed
// it. So the outbox is read in windows of transaction numbers. A window ends where the oldest open transaction begins, so
// nothing can be added to it. Transaction numbers are not enough either: a transaction that began early may have waited for
// the build's lock and written last. Within a window the ids give the order, because they are taken under that lock. A
// transaction that waited for the lock was still open when the other ended, so no window has the later event alone.
import { sql } from 'kysely'
import type { Db, Trx } from '../../db/pool.ts'
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
export interface EventData {
  to?: string
  blocked_state?: 'passed' | 'failed' | 'running' | null
  /** Event names. */
  news?: readonly string[]
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

/** Cheap, since it is called several times a second. */
export async function hasUnread(db: Db): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select c.from_xid < c.to_xid or exists (select from events e where e.xid >= c.to_xid) as has
    from notification_cursor c`.execute(db)
  return rows[0]?.has ?? false
}

/** The next events. The commit of the transaction moves the cursor. null: another worker is reading. */
export async function takeEvents(trx: Trx, most: number): Promise<OutboxEvent[] | null> {
  const { rows: cursors } = await sql<Window>`
    select from_xid, to_xid, last_event_id from notification_cursor for update skip locked`.execute(trx)
  const [cursor] = cursors
  if (cursor === undefined) return null
  const window = cursor.from_xid < cursor.to_xid ? cursor : await nextWindow(trx, cursor.to_xid)
  if (window.from_xid >= window.to_xid) return []

  // Materialized, so that the planner uses the index on xid and sorts by id afterwards.
  const { rows: events } = await sql<OutboxEvent>`
    with closed as materialized (
      select id from events
      where xid >= ${window.from_xid} and xid < ${window.to_xid} and id > ${window.last_event_id}
    )
    select e.id, e.organization_id, e.pipeline_id, e.build_id, e.job_id, e.kind, e.data, e.created_at
    from events e where e.id in (select id from closed order by id limit ${most})
    order by e.id`.execute(trx)
  const isRead = events.length < most
  await sql`
    update notification_cursor set
      from_xid = ${isRead ? window.to_xid : window.from_xid}, to_xid = ${window.to_xid},
      last_event_id = ${isRead ? 0 : (events.at(-1)?.id ?? 0)}`.execute(trx)
  return events
}

async function nextWindow(trx: Trx, from: number): Promise<Window> {
  const { rows } = await sql<{ oldest: number }>`
    select ${oldestOpen} as oldest`.execute(trx)
  return { from_xid: from, to_xid: Math.max(from, rows[0]?.oldest ?? from), last_event_id: 0 }
}
