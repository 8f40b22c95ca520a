// Writes down what is to be told and to whom. From then on it is told at least once, whatever dies.
import { sql } from 'kysely'
import type { Trx } from '../../db/pool.ts'
import { newId } from '../../lib/ids.ts'
import type { Message } from '../messages/message.ts'
import type { Target } from './targets.ts'

export interface NewDelivery {
  id: string
  message: Message
  organizationId: string
  /** null: what a pipeline asks for itself, at `target`. */
  serviceId: string | null
  target?: Target
  /** Whose lanes it stands in; unless said, the service's. */
  ownerId?: string
  lane: string
  /** Where the lane does not name it, and it is to be found again. */
  buildId?: string
}

/** When a delivery that begins now is given up. */
export const giveUpAt = (now: Date): string => new Date(now.getTime() + 24 * 60 * 60 * 1000).toISOString()

/** In the order given, which is the order within each lane. `eventIds`: the rows of the outbox, by message. */
export async function enqueue(
  trx: Trx,
  deliveries: readonly NewDelivery[],
  now: Date,
  eventIds: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  if (deliveries.length === 0) return
  await insertMessages(trx, deliveries, eventIds)
  const at = now.toISOString()
  const rows = deliveries.map(
    ({ id, message, organizationId, serviceId, target, ownerId, lane, buildId }, n) => ({
      n,
      id,
      organization_id: organizationId,
      message_id: message.id,
      service_id: serviceId,
      target: target ?? null,
      owner_id: ownerId ?? serviceId ?? organizationId,
      lane,
      build_id: buildId ?? null,
    }),
  )
  await sql`
    insert into notification_deliveries
      (id, organization_id, message_id, service_id, target, owner_id, lane, build_id, give_up_at, created_at)
    select d.id, d.organization_id, d.message_id, d.service_id, d.target, d.owner_id, d.lane, d.build_id,
      ${giveUpAt(now)}, ${at}
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as d (n integer, id uuid, organization_id uuid, message_id uuid, service_id uuid, target jsonb, owner_id uuid,
        lane text, build_id uuid)
    order by d.n`.execute(trx)
  await openLanes(trx, rows, at)
}

/**
 * A lane that waits for its next attempt goes on waiting. The update that changes nothing holds the lane, so that a worker
 * who has emptied it does not take it away before it can see what comes.
 */
export async function openLanes(
  trx: Trx,
  lanes: ReadonlyArray<{ owner_id: string; lane: string; organization_id: string }>,
  at: string,
): Promise<void> {
  await sql`
    insert into notification_lanes (owner_id, lane, organization_id, due_at)
    select distinct on (l.owner_id, l.lane) l.owner_id, l.lane, l.organization_id, ${at}::timestamptz
    from jsonb_to_recordset(${JSON.stringify(lanes)}::jsonb) as l (owner_id uuid, lane text, organization_id uuid)
    order by l.owner_id, l.lane
    on conflict (owner_id, lane) do update set due_at = notification_lanes.due_at`.execute(trx)
}

export async function insertMessages(
  trx: Trx,
  deliveries: ReadonlyArray<Pick<NewDelivery, 'message' | 'organizationId'>>,
  eventIds: ReadonlyMap<string, number>,
): Promise<void> {
  const messages = new Map(
    deliveries.map(({ message, organizationId }) => [message.id, { message, organizationId }]),
  )
  const columns = [...messages.values()].map(
    ({ message: { id, event, occurredAt, ...data }, organizationId }) => ({
      id,
      organizationId,
      eventId: eventIds.get(id) ?? null,
      event,
      occurredAt,
      data: JSON.stringify(data),
    }),
  )
  await sql`
    insert into notification_messages (id, organization_id, event_id, event, occurred_at, data)
    select m.id, m.organization_id, m.event_id, m.event, m.occurred_at, m.data::json
    from unnest(${columns.map(({ id }) => id)}::uuid[], ${columns.map((row) => row.organizationId)}::uuid[],
      ${columns.map(({ eventId }) => eventId)}::bigint[], ${columns.map(({ event }) => event)}::text[],
      ${columns.map(({ occurredAt }) => occurredAt)}::timestamptz[], ${columns.map(({ data }) => data)}::text[])
      as m (id, organization_id, event_id, event, occurred_at, data)`.execute(trx)
}

/** Messages without an event behind them: pings and tests. */
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
