// Ordered queues of pending deliveries (table `notification_queues`). All deliveries to one recipient (`owner_id`: a service, or
// one address of an organization) and one name (`ordered_queue`) are sent in order. A worker leases a queue, sends what is
// in it and releases it.
import { sql } from 'kysely'
import { mayBeTried } from '../../db/each-row.ts'
import type { Db } from '../../db/pool.ts'
import { isFree, leaseEnd } from '../../tasks/lease.ts'
import type { MessageCache } from '../messages/message-cache.ts'
import type { Message } from '../messages/message.ts'
import type { Target } from '../outbox/targets.ts'
import type { SealedService } from './open-service.ts'

export interface OrderedQueue {
  owner_id: string
  ordered_queue: string
}

/** The id of a queue in `failed_rows`, as the query below writes it. */
export const recordedQueue = ({ owner_id: recipient, ordered_queue: name }: OrderedQueue): string =>
  `${recipient} ${name}`

/**
 * A lease that is older than `renewMs` is renewed between two deliveries. So at any moment it lasts longer than an attempt and
 * its record: the last request of an attempt begins within `lastRequestMs`, and takes at most 12 seconds.
 */
export const leaseSeconds = 35
export const renewMs = 5000
export const lastRequestMs = 14_000

/** The slots that a recipient with deliveries in flight may still take. */
export interface Share {
  free: number
  /** Whether the first of them is the slot reserved for the recipient. */
  hasReserved: boolean
}

export interface Capacity {
  /** Free slots that all recipients share. */
  shared: number
  /** The share of a recipient without deliveries in flight. */
  perRecipient: number
  shares: ReadonlyMap<string, Share>
  /** Queues that this process still works on. Their release may be committed before this process knows it. */
  held: readonly OrderedQueue[]
}

export async function claimQueues(
  db: Db,
  now: Date,
  { shared, perRecipient, shares, held }: Capacity,
): Promise<OrderedQueue[]> {
  const given = [...shares].map(([id, share]) => ({
    owner_id: id,
    free: share.free,
    has_reserved: share.hasReserved,
  }))
  // The recursion visits each recipient through the index, so one with very many queues costs and gets no more than one with
  // few. Shared slots are dealt out in turn: a second queue of a recipient only after the first one of every recipient.
  const { rows } = await sql<OrderedQueue>`
    with recursive recipients (owner_id) as (
      (select owner_id from notification_queues order by owner_id limit 1)
      union all
      select (select q.owner_id from notification_queues q where q.owner_id > r.owner_id order by q.owner_id limit 1)
      from recipients r where r.owner_id is not null
    ), held as (
      select * from unnest(${held.map((queue) => queue.owner_id)}::uuid[],
        ${held.map((queue) => queue.ordered_queue)}::text[]) as h (owner_id, ordered_queue)
    ), shares as (
      select r.owner_id, coalesce(s.free, ${perRecipient}) as free, coalesce(s.has_reserved, true) as has_reserved
      from recipients r
      left join jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
        as s (owner_id uuid, free integer, has_reserved boolean) on s.owner_id = r.owner_id
      where r.owner_id is not null and coalesce(s.free, 1) > 0
    ), due as (
      select s.owner_id, d.ordered_queue, s.has_reserved,
        row_number() over (partition by s.owner_id order by d.due_at) as number
      from shares s cross join lateral (
        select q.ordered_queue, q.due_at from notification_queues q
        where q.owner_id = s.owner_id and q.due_at <= ${now.toISOString()} and ${isFree('q.leased_until', sql`now()`)}
          and ${mayBeTried('deliveries', sql`q.owner_id || ' ' || q.ordered_queue`, now.toISOString())}
          and (q.owner_id, q.ordered_queue) not in (select h.owner_id, h.ordered_queue from held h)
        order by q.due_at limit s.free for update skip locked
      ) d
    ), ranked as (
      select owner_id, ordered_queue, has_reserved and number = 1 as is_reserved,
        row_number() over (partition by has_reserved and number = 1 order by number, random()) as rank
      from due
    )
    update notification_queues q set leased_until = ${leaseEnd(sql`now()`, leaseSeconds)}
    from ranked r
    where q.owner_id = r.owner_id and q.ordered_queue = r.ordered_queue and (r.is_reserved or r.rank <= ${shared})
    returning q.owner_id, q.ordered_queue`.execute(db)
  return rows
}

/** For tasks/pauses.ts: when deliveries are due, or the lease of a worker ends that may have died. */
export const deliveryTimes = sql<
  string | null
>`select greatest(due_at, leased_until) from notification_queues`

export interface PendingDelivery extends OrderedQueue {
  id: string
  organization_id: string
  attempts: number
  give_up_at: string
  message: Message
  /** null: the delivery goes to `target`, which the pipeline names in `notify`. */
  service: SealedService | null
  target: Target | null
}

type PendingRow = Omit<PendingDelivery, 'message' | 'service'> &
  Omit<SealedService, 'id'> & { message_id: string; service_id: string | null }

/** The first deliveries of each queue, in order. */
export async function listPending(
  db: Db,
  cache: MessageCache,
  queues: readonly OrderedQueue[],
  mostPerQueue: number,
): Promise<PendingDelivery[]> {
  const { rows } = await sql<PendingRow>`
    select d.id, d.owner_id, d.ordered_queue, d.organization_id, d.attempts, d.give_up_at, d.target, d.message_id,
      s.id as service_id, s.provider, s.build_states, s.settings, s.secrets_sealed, s.secrets_key_id,
      case when u.id is not null then json_build_object('id', u.id, 'name', u.name) end as creator
    from unnest(${queues.map((queue) => queue.owner_id)}::uuid[], ${queues.map((queue) => queue.ordered_queue)}::text[])
      as w (owner_id, ordered_queue)
    cross join lateral (
      select * from notification_deliveries p
      where p.owner_id = w.owner_id and p.ordered_queue = w.ordered_queue and p.state = 'pending'
      order by p.seq limit ${mostPerQueue}
    ) d
    left join notification_services s on s.id = d.service_id
    left join users u on u.id = s.created_by
    order by d.seq`.execute(db)
  const messages = await cache.find(new Set(rows.map(({ message_id: id }) => id)))
  return rows.flatMap((row) => {
    const message = messages.get(row.message_id)
    // Without its message the delivery was deleted meanwhile.
    return message === undefined
      ? []
      : [{ ...row, message, service: row.service_id === null ? null : { ...row, id: row.service_id } }]
  })
}
