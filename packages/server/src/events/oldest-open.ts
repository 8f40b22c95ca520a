// Up to which transaction the outbox can be read: all before it have ended, so nothing can be added there.
import { sql } from 'kysely'

/**
 * The oldest open transaction, or else the next one. PostgreSQL numbers the transactions of all its databases together, and
 * those of other databases never write here, so they are left out. A transaction of an unknown database counts.
 */
export const oldestOpen = sql<number>`
  (select least(
      min(coalesce(o.xid, pg_snapshot_xmax(s.seen))::text::bigint),
      pg_current_xact_id_if_assigned()::text::bigint)
    from (select pg_current_snapshot() as seen) s
    left join lateral (
      select x.xid from pg_snapshot_xip(s.seen) as x (xid)
      where not exists (
          select from pg_stat_activity a
          where a.backend_xid = x.xid::xid
            and a.datid <> (select d.oid from pg_database d where d.datname = current_database()))
        and not exists (
          select from pg_prepared_xacts p
          where p.transaction = x.xid::xid and p.database <> current_database())
    ) o on true)`
