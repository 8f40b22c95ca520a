import { sql } from 'kysely'
import type { Db, Trx } from '../../../db/pool.ts'
import type { Position } from '../../../http/cursors.ts'
import type { Exchange } from '../../../notifications/delivery/attempt.ts'
import type { MessageData } from '../../../notifications/messages/message.ts'
import type { AuditEventName, EventName } from '../../../notifications/names.ts'

export interface DeliveryRow {
  id: string
  owner_id: string
  ordered_queue: string
  message_id: string
  event: EventName | AuditEventName
  state: 'pending' | 'delivered' | 'dead' | 'discarded'
  attempts: number
  next_attempt_at: string | null
  build_url: string | null
  occurred_at: string
  created_at: string
  finished_at: string | null
}

const columns = sql`
  d.id, d.owner_id, d.ordered_queue, d.message_id, m.event, d.state, d.attempts, m.data -> 'build' ->> 'url' as build_url,
  m.occurred_at, d.created_at, d.finished_at, case when d.state = 'pending' then (
    select q.due_at from notification_queues q where q.owner_id = d.owner_id and q.ordered_queue = d.ordered_queue) end as next_attempt_at`

/** Newest first; with `before` in reverse order, so that the deliveries next to that position come first. */
export async function listOfService(
  db: Db,
  orgId: string,
  serviceId: string,
  state: string | undefined,
  { after, before, limit }: { after: Position | null; before: Position | null; limit: number },
): Promise<DeliveryRow[]> {
  const behind = after ? sql`and (d.created_at, d.id) < (${after.at}, ${after.id})` : sql``
  const ahead = before ? sql`and (d.created_at, d.id) > (${before.at}, ${before.id})` : sql``
  const order = before ? sql`d.created_at, d.id` : sql`d.created_at desc, d.id desc`
  const { rows } = await sql<DeliveryRow>`
    select ${columns} from notification_deliveries d join notification_messages m on m.id = d.message_id
    where d.organization_id = ${orgId} and d.service_id = ${serviceId}
      and (${state ?? null}::text is null or d.state = ${state ?? null}) ${behind} ${ahead}
    order by ${order} limit ${limit}`.execute(db)
  return rows
}

export async function findOfService(
  db: Db,
  orgId: string,
  serviceId: string,
  id: string,
): Promise<(DeliveryRow & { data: MessageData }) | undefined> {
  const { rows } = await sql<DeliveryRow & { data: MessageData }>`
    select ${columns}, m.data from notification_deliveries d join notification_messages m on m.id = d.message_id
    where d.organization_id = ${orgId} and d.service_id = ${serviceId} and d.id = ${id}`.execute(db)
  return rows[0]
}

export interface AttemptRow {
  number: number
  started_at: string
  duration_ms: number
  error: string | null
  exchanges: Exchange[]
}

export async function listAttempts(db: Db, orgId: string, deliveryId: string): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select number, started_at, duration_ms, error, exchanges from notification_attempts
    where organization_id = ${orgId} and delivery_id = ${deliveryId} order by number`.execute(db)
  return rows
}

/** Makes it due at once. Earlier attempts stay on record. */
export async function setPending(
  trx: Trx,
  orgId: string,
  { id, owner_id: recipientId, ordered_queue: queue }: Pick<DeliveryRow, 'id' | 'owner_id' | 'ordered_queue'>,
  { now, giveUpAt }: { now: string; giveUpAt: string },
): Promise<void> {
  await sql`
    insert into notification_queues (owner_id, ordered_queue, organization_id, due_at)
    values (${recipientId}, ${queue}, ${orgId}, ${now})
    on conflict (owner_id, ordered_queue) do update set due_at = least(notification_queues.due_at, excluded.due_at)`.execute(
    trx,
  )
  await sql`
    update notification_deliveries set state = 'pending', finished_at = null, give_up_at = ${giveUpAt}
    where organization_id = ${orgId} and id = ${id}`.execute(trx)
}
