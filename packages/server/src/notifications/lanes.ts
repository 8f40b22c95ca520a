// Lanes of pending deliveries. A worker leases one, sends what stands in it, and gives it back; should the worker die, the
// lease runs out and another sends again.
import { sql } from 'kysely'
import type { Db } from '../db/pool.ts'
import type { Message, MessageData } from './message.ts'
import type { SealedService } from './open-service.ts'
import type { Target } from './targets.ts'

export interface Lane {
  owner_id: string
  lane: string
}

/** Longer than an attempt and its record can take: the last request of one begins by then, and may take 12 seconds. */
export const leaseSeconds = 30
export const lastRequestMs = 14_000

/** `free`: how many lanes of an owner may be taken, by owner, where it is not the usual number. */
export async function claimLanes(
  db: Db,
  now: Date,
  { slots, perOwner, free }: { slots: number; perOwner: number; free: ReadonlyMap<string, number> },
): Promise<Lane[]> {
  // Owner by owner through the index: one with very many lanes costs and gets no more than one with few.
  const { rows } = await sql<Lane>`
    with recursive owners (owner_id) as (
      (select owner_id from notification_lanes order by owner_id limit 1)
      union all
      select (select l.owner_id from notification_lanes l where l.owner_id > o.owner_id order by l.owner_id limit 1)
      from owners o where o.owner_id is not null
    ), shares as (
      select o.owner_id, coalesce(f.free, ${perOwner}) as free
      from owners o
      left join unnest(${[...free.keys()]}::uuid[], ${[...free.values()]}::int[]) as f (owner_id, free)
        on f.owner_id = o.owner_id
      where o.owner_id is not null order by random()
    ), taken as (
      select due.owner_id, due.lane from shares s cross join lateral (
        select l.owner_id, l.lane from notification_lanes l
        where l.owner_id = s.owner_id and l.due_at <= ${now.toISOString()}
          and (l.leased_until is null or l.leased_until < now())
        order by l.due_at limit s.free for update skip locked
      ) due limit ${slots}
    )
    update notification_lanes l set leased_until = now() + make_interval(secs => ${leaseSeconds})
    from taken t where l.owner_id = t.owner_id and l.lane = t.lane
    returning l.owner_id, l.lane`.execute(db)
  return rows
}

export interface PendingDelivery extends Lane {
  id: string
  organization_id: string
  attempts: number
  give_up_at: string
  message: { id: string; event: Message['event']; occurred_at: string; data: MessageData }
  /** null: what a pipeline asks for itself, at `target`. */
  service: SealedService | null
  target: Target | null
}

interface PendingRow extends Lane {
  id: string
  organization_id: string
  attempts: number
  give_up_at: string
  target: Target | null
  message_id: string
  event: Message['event']
  occurred_at: string
  data: MessageData
  service_id: string | null
  provider: SealedService['provider']
  build_states: SealedService['build_states']
  settings: SealedService['settings']
  secrets_sealed: Buffer | null
  secrets_key_id: string | null
  creator: SealedService['creator']
}

/** The first few of each lane, in order. */
export async function listPending(
  db: Db,
  lanes: readonly Lane[],
  mostPerLane: number,
): Promise<PendingDelivery[]> {
  const { rows } = await sql<PendingRow>`
    select d.id, d.owner_id, d.lane, d.organization_id, d.attempts, d.give_up_at, d.target, m.id as message_id, m.event,
      m.occurred_at, m.data, s.id as service_id, s.provider, s.build_states, s.settings, s.secrets_sealed,
      s.secrets_key_id,
      case when u.id is not null then json_build_object('id', u.id, 'name', u.name) end as creator
    from unnest(${lanes.map((lane) => lane.owner_id)}::uuid[], ${lanes.map(({ lane }) => lane)}::text[])
      as w (owner_id, lane)
    cross join lateral (
      select * from notification_deliveries p
      where p.owner_id = w.owner_id and p.lane = w.lane and p.state = 'pending' order by p.seq limit ${mostPerLane}
    ) d
    join notification_messages m on m.id = d.message_id
    left join notification_services s on s.id = d.service_id
    left join users u on u.id = s.created_by
    order by d.seq`.execute(db)
  return rows.map(
    ({
      message_id: messageId,
      event,
      occurred_at: occurredAt,
      data,
      service_id: serviceId,
      provider,
      build_states: states,
      settings,
      secrets_sealed: sealed,
      secrets_key_id: keyId,
      creator,
      ...delivery
    }) => ({
      ...delivery,
      message: { id: messageId, event, occurred_at: occurredAt, data },
      service:
        serviceId === null
          ? null
          : {
              id: serviceId,
              provider,
              organization_id: delivery.organization_id,
              build_states: states,
              settings,
              secrets_sealed: sealed,
              secrets_key_id: keyId,
              creator,
            },
    }),
  )
}
