// Stores messages and their deliveries. From then on every delivery is attempted at least once.
import { sql } from 'kysely'
import type { Trx } from '../../db/pool.ts'
import { newId } from '../../lib/ids.ts'
import type { Message } from '../messages/message.ts'
import type { Target } from './targets.ts'

export interface NewMessage {
  message: Message
  organizationId: string
  /** The row of the outbox; null: a ping has none. */
  eventId: number | null
}

export interface NewDelivery extends NewMessage {
  id: string
  /** null: the delivery goes to `target`, which the pipeline names in `notify`. */
  serviceId: string | null
  target?: Target
  /** By default the service. */
  recipientId?: string
  /** Deliveries to one recipient with the same queue are made in order. */
  queue: string
  /** Set when the queue is not named after the build. */
  buildId?: string
}

/** When a delivery that is due now is given up. */
export const giveUpAt = (now: Date): string => new Date(now.getTime() + 24 * 60 * 60 * 1000).toISOString()

/** Each message once, however many deliveries it has. */
export async function insertMessages(trx: Trx, given: readonly NewMessage[]): Promise<void> {
  if (given.length === 0) return
  const unique = [...new Map(given.map((one) => [one.message.id, one])).values()]
  const rows = unique.map(({ message: { id, event, occurredAt, ...data }, organizationId, eventId }) => ({
    id,
    organization_id: organizationId,
    event_id: eventId,
    event,
    occurred_at: occurredAt,
    data,
  }))
  // One document: PostgreSQL reads an array of texts with many quotes several times slower.
  await sql`
    insert into notification_messages (id, organization_id, event_id, event, occurred_at, data)
    select m.id, m.organization_id, m.event_id, m.event, m.occurred_at, m.data
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as m (id uuid, organization_id uuid, event_id bigint, event text, occurred_at timestamptz, data json)`.execute(
    trx,
  )
}

/** In the order given, which is the order within each queue. Their messages must be stored already. */
export async function insertDeliveries(
  trx: Trx,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  const at = now.toISOString()
  const rows = deliveries.map((delivery, n) => ({
    n,
    id: delivery.id,
    organization_id: delivery.organizationId,
    message_id: delivery.message.id,
    service_id: delivery.serviceId,
    target: delivery.target ?? null,
    owner_id: delivery.recipientId ?? delivery.serviceId ?? delivery.organizationId,
    ordered_queue: delivery.queue,
    build_id: delivery.buildId ?? null,
  }))
  await sql`
    insert into notification_deliveries
      (id, organization_id, message_id, service_id, target, owner_id, ordered_queue, build_id, give_up_at, created_at)
    select d.id, d.organization_id, d.message_id, d.service_id, d.target, d.owner_id, d.ordered_queue, d.build_id,
      ${giveUpAt(now)}, ${at}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as d (n integer, id uuid, organization_id uuid, message_id uuid, service_id uuid, target jsonb, owner_id uuid,
        ordered_queue text, build_id uuid)
    order by d.n`.execute(trx)
  await insertQueues(trx, rows, at)
}

/**
 * An existing queue keeps the time of its next attempt. The update that changes nothing locks it, so that a worker which has
 * emptied the queue cannot delete it before it sees the new delivery.
 */
async function insertQueues(
  trx: Trx,
  queues: ReadonlyArray<{ owner_id: string; ordered_queue: string; organization_id: string }>,
  at: string,
): Promise<void> {
  await sql`
    insert into notification_queues (owner_id, ordered_queue, organization_id, due_at)
    select distinct on (q.owner_id, q.ordered_queue) q.owner_id, q.ordered_queue, q.organization_id, ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(queues)}::jsonb) as q (owner_id uuid, ordered_queue text, organization_id uuid)
    order by q.owner_id, q.ordered_queue
    on conflict (owner_id, ordered_queue) do update set due_at = notification_queues.due_at`.execute(trx)
}

/** The message of pings and tests. */
export const newPing = (
  organization: Message['organization'],
  sender: Message['sender'],
  now: Date,
): Message => ({
  id: newId(),
  event: 'ping',
  occurredAt: now.toISOString(),
  states: [],
  sender,
  organization,
})
