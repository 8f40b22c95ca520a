// Stores the events of event log services, which clients read by REST.
import { sql } from 'kysely'
import type { Trx } from '../../db/pool.ts'
import type { NewMessage } from './enqueue.ts'

export interface NewLogEntry extends NewMessage {
  serviceId: string
}

/** In the order given. */
export async function insertLogEntries(trx: Trx, entries: readonly NewLogEntry[], now: Date): Promise<void> {
  if (entries.length === 0) return
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
