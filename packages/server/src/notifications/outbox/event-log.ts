// The event log: what its services hear is kept, and read by whoever asks.
import { sql } from 'kysely'
import type { Trx } from '../../db/pool.ts'
import { insertMessages } from './enqueue.ts'
import type { Message } from '../messages/message.ts'

export interface NewLogEntry {
  serviceId: string
  organizationId: string
  message: Message
}

/** In the order given. `written`: messages that are in the database by now. */
export async function keepInLog(
  trx: Trx,
  entries: readonly NewLogEntry[],
  now: Date,
  written: ReadonlySet<string>,
  eventIds: ReadonlyMap<string, number>,
): Promise<void> {
  if (entries.length === 0) return
  const missing = entries.filter(({ message }) => !written.has(message.id))
  if (missing.length > 0) await insertMessages(trx, missing, eventIds)
  const rows = entries.map(({ serviceId, organizationId, message }, n) => ({
    n,
    service_id: serviceId,
    organization_id: organizationId,
    message_id: message.id,
  }))
  await sql`
    insert into notification_log_entries (service_id, organization_id, message_id, created_at)
    select e.service_id, e.organization_id, e.message_id, ${now.toISOString()}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as e (n integer, service_id uuid, organization_id uuid, message_id uuid)
    order by e.n`.execute(trx)
}
