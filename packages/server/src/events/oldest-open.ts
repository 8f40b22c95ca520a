// Up to where the outbox can be read: before it every transaction has ended, and nothing can be added any more.
import { sql } from 'kysely'

/**
 * The oldest transaction that is still open, or the next one to come. Only those of this database count: PostgreSQL numbers
 * the transactions of all its databases together, and those of the others never write here. One of which it is not known
 * where it runs counts as ours.
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
