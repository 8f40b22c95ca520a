// Reads the outbox, each event once and in the order in which it happened to its build.
//
// Ids are not enough: a transaction that took its id early may commit late, and a reader that goes by ids would have passed
// it. So the outbox is read in windows of transaction numbers. A window ends where the oldest open transaction begins, so
// nothing can be added to it. Transaction numbers are not enough either: a transaction that began early may have waited for
// the build's lock and written last. Within a window the ids give the order, because they are taken under that lock. A
// transaction that waited for the lock was still open when the other ended, so no window has the later event alone.
//
// A window is read anew for each page, so a long one ends earlier: where the order of the transactions and the order of the ids
// agree, for as many events as there can be open transactions. So a page costs the same however many events wait.
import { sql, type RawBuilder } from 'kysely'
import { forgetRows, hasToTryAgain, listToTryAgain, type LoopContext } from '../../db/each-row.ts'
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
  audit_event_id?: string
  test_id?: string
  suite_id?: string
  person_id?: string
  budget_id?: string
  month?: string
  share?: number
  amount_micros?: number
  spent_micros?: number
}

interface Window {
  from_xid: number
  to_xid: number
  last_event_id: number
  is_new: boolean
  /** Whether events are known to be behind it. */
  is_cut: boolean
  has_set_aside: boolean
}

/** Cheap, since it is called several times a second: it reads the cursor and the end of an index. */
export async function hasUnread(db: Db, now: Date): Promise<boolean> {
  const { rows } = await findUnread(now.toISOString()).execute(db)
  return rows[0]?.has ?? false
}

const findUnread = prepared(
  (now: string) => sql<{ has: boolean }>`
    select c.from_xid < c.to_xid or coalesce(${newestTransaction(sql`${now}::timestamptz`)} >= c.to_xid, false)
      or ${hasToTryAgain('outbox', sql`${now}::timestamptz`)} as has
    from notification_cursor c`,
)

interface TakenEvents {
  /** The events that are wanted, in order. */
  events: OutboxEvent[]
  /** How many events were read, wanted or not. */
  read: number
  /** Whether there may be further events, in this window or behind it. */
  isMore: boolean
  /** Whether events were set aside. */
  hasSetAside: boolean
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
  const window = await openWindow(trx, most)
  if (window === null) return null
  const { has_set_aside: hasSetAside, is_cut: isCut } = window
  if (window.from_xid >= window.to_xid) return { events: [], read: 0, isMore: false, hasSetAside }

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
  return {
    events: rows.filter((row) => row.id !== null),
    read,
    isMore: read === most || isCut || !window.is_new,
    hasSetAside,
  }
}

/** The rest of the last window, or else the next one. It is empty when an open transaction may still write to it. */
async function openWindow(trx: Trx, most: number): Promise<Window | null> {
  const { rows } = await lockCursor().execute(trx)
  const [window] = rows
  if (window === undefined) return null
  if (!window.is_new || window.from_xid >= window.to_xid) return window
  for (let events = windowPages * most; ; events *= 2) {
    const { rows: ends } = await findCut(window.from_xid, window.to_xid, events, events + mostOpen).execute(
      trx,
    )
    const cut = ends[0]?.cut ?? null
    if (cut !== null) return { ...window, to_xid: cut, is_cut: cut < window.to_xid }
  }
}

const lockCursor = prepared(
  () => sql<Window>`
    select c.from_xid, c.last_event_id, c.from_xid >= c.to_xid as is_new, false as is_cut,
      case when c.from_xid < c.to_xid then c.to_xid else greatest(c.to_xid, ${oldestOpen}) end as to_xid,
      exists (select from failed_rows f where f.loop = 'outbox') as has_set_aside
    from notification_cursor c for update of c skip locked`,
)

/** The pages of a window that is cut. */
const windowPages = 4
/** More than PostgreSQL has transactions open at once. */
const mostOpen = 2000

/**
 * Where a window may end that has more than `least` events, after reading `most`: before it are the lower ids, behind it the
 * higher ones. Null: not among these. The numbers are in the text, so that PostgreSQL plans for so few rows. Every frame
 * begins with the first row of its order: for others PostgreSQL would read the rest again for each row.
 */
const findCut = (from: number, to: number, least: number, most: number) => sql<{ cut: number | null }>`
    with near as materialized (
      select xid, id from events where xid >= ${from} and xid < ${to} order by xid, id limit ${sql.lit(most)}
    ), ordered as (
      select xid, row_number() over ascending as number, lag(xid) over ascending as previous,
        max(id) over (ascending rows between unbounded preceding and 1 preceding) as highest_before,
        min(id) over (order by xid desc, id desc rows unbounded preceding) as lowest_after
      from near window ascending as (order by xid, id)
    )
    select case when (select count(*) from near) < ${sql.lit(most)} then ${to}::bigint
      else (select xid from ordered where number > ${sql.lit(least)} and xid > previous and highest_before < lowest_after
        order by number limit 1) end as cut`

/** At most so many are tried again at a time. */
const mostAgain = 200

/** Events that were set aside and are to be tried again, in order. One that is deleted, or that nobody wants any more, is given up. */
export async function takeSetAside(
  ctx: Pick<LoopContext, 'now'> & { db: Trx },
  isWanted: RawBuilder<boolean>,
): Promise<OutboxEvent[]> {
  const ids = await listToTryAgain(ctx, 'outbox', mostAgain)
  if (ids.length === 0) return []
  const { rows } = await sql<OutboxEvent>`
    select e.id, e.organization_id, e.pipeline_id, e.build_id, e.job_id, e.kind, e.data, e.created_at
    from events e where e.id = any (${ids}::bigint[]) and ${isWanted} order by e.id`.execute(ctx.db)
  const known = new Set(rows.map(({ id }) => String(id)))
  await forgetRows(
    ctx.db,
    'outbox',
    ids.filter((id) => !known.has(id)),
  )
  return rows
}
