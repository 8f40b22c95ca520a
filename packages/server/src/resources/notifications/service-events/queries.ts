import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'
import type { Position } from '../../../http/cursors.ts'
import type { MessageData } from '../../../notifications/messages/message.ts'
import type { EventName } from '../../../notifications/names.ts'

export interface LoggedEventRow {
  id: string
  /** Of the row in the log; `id` is the message's. */
  entry_id: string
  event: EventName
  occurred_at: string
  created_at: string
  data: MessageData
}

/** Oldest first; with `before` in reverse order, so that the events next to that position come first. */
export async function listOfService(
  db: Db,
  orgId: string,
  serviceId: string,
  { after, before, limit }: { after: Position | null; before: Position | null; limit: number },
): Promise<LoggedEventRow[]> {
  const behind = after ? sql`and e.id > ${after.id}::bigint` : sql``
  const ahead = before ? sql`and e.id < ${before.id}::bigint` : sql``
  const { rows } = await sql<LoggedEventRow>`
    select m.id, e.id::text as entry_id, m.event, m.occurred_at, e.created_at, m.data
    from notification_log_entries e join notification_messages m on m.id = e.message_id
    where e.organization_id = ${orgId} and e.service_id = ${serviceId} ${behind} ${ahead}
    order by e.id ${before ? sql`desc` : sql``} limit ${limit}`.execute(db)
  return rows
}
