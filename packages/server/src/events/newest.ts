// How readers of the outbox find out cheaply whether there is something to read.
import { sql, type RawBuilder } from 'kysely'

/**
 * The newest transaction with an event. It is asked for many times a second, so it reads only the partitions of around now.
 * All partitions are read in two seconds of each minute: older events may be unread after a long pause, and a wrong clock
 * may have put some elsewhere.
 */
export const newestTransaction = (now: RawBuilder<unknown>): RawBuilder<number | null> => sql`
  (select max(xid) from events
    where created_at > case when extract(second from now()) < 2 then '-infinity' else ${now} - interval '1 day' end
      and created_at < case when extract(second from now()) < 2 then 'infinity' else ${now} + interval '1 day' end)`
