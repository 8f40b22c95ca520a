// Lanes of pending deliveries. A worker leases one, sends what stands in it, and gives it back; should the worker die, the
// lease runs out and another sends again.
import { sql } from 'kysely'
import type { Db } from '../../db/pool.ts'
import { isFree, leaseEnd } from '../../tasks/lease.ts'
import type { Message } from '../messages/message.ts'
import type { SealedService } from './open-service.ts'
import type { Shelf } from '../messages/message-cache.ts'
import type { Target } from '../outbox/targets.ts'

export interface Lane {
  owner_id: string
  lane: string
}

/**
 * Renewed when it is older than that, a lease is at every moment good for longer than an attempt and its record can take: the
 * last request of an attempt begins by then, and may take 12 seconds.
 */
export const leaseSeconds = 35
export const renewMs = 5000
export const lastRequestMs = 14_000

export interface Share {
  /** How many lanes of the owner may be taken. */
  free: number
  /** Whether the first of them takes up a place that is the owner's own, and no other's. */
  hasOwn: boolean
}

/**
 * `shared`: the places that all owners take from. `shares`: of owners for whom something is under way. `held`: lanes that this
 * process has not put down yet, whatever the table says: their release may be written and its answer still on its way.
 */
export async function claimLanes(
  db: Db,
  now: Date,
  {
    shared,
    usual,
    shares,
    held,
  }: { shared: number; usual: number; shares: ReadonlyMap<string, Share>; held: readonly Lane[] },
): Promise<Lane[]> {
  const given = [...shares].map(([id, share]) => ({ owner_id: id, free: share.free, has_own: share.hasOwn }))
  // Owner by owner through the index: one with very many lanes costs and gets no more than one with few. What is shared goes
  // round: a second lane of anybody only after the first one of everybody.
  const { rows } = await sql<Lane>`
    with recursive owners (owner_id) as (
      (select owner_id from notification_lanes order by owner_id limit 1)
      union all
      select (select l.owner_id from notification_lanes l where l.owner_id > o.owner_id order by l.owner_id limit 1)
      from owners o where o.owner_id is not null
    ), held as (
      select * from unnest(${held.map((lane) => lane.owner_id)}::uuid[], ${held.map(({ lane }) => lane)}::text[])
        as h (owner_id, lane)
    ), shares as (
      select o.owner_id, coalesce(s.free, ${usual}) as free, coalesce(s.has_own, true) as has_own
      from owners o
      left join jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as s (owner_id uuid, free integer, has_own boolean)
        on s.owner_id = o.owner_id
      where o.owner_id is not null and coalesce(s.free, 1) > 0
    ), due as (
      select s.owner_id, d.lane, s.has_own, row_number() over (partition by s.owner_id order by d.due_at) as place
      from shares s cross join lateral (
        select l.lane, l.due_at from notification_lanes l
        where l.owner_id = s.owner_id and l.due_at <= ${now.toISOString()}
          and ${isFree('l.leased_until', sql`now()`)}
          and (l.owner_id, l.lane) not in (select h.owner_id, h.lane from held h)
        order by l.due_at limit s.free for update skip locked
      ) d
    ), placed as (
      select owner_id, lane, has_own and place = 1 as is_own,
        row_number() over (partition by has_own and place = 1 order by place, random()) as turn
      from due
    )
    update notification_lanes l set leased_until = ${leaseEnd(sql`now()`, leaseSeconds)}
    from placed p where l.owner_id = p.owner_id and l.lane = p.lane and (p.is_own or p.turn <= ${shared})
    returning l.owner_id, l.lane`.execute(db)
  return rows
}

export interface PendingDelivery extends Lane {
  id: string
  organization_id: string
  attempts: number
  give_up_at: string
  /** One and the same object for all who are told of it. */
  message: Message
  /** null: what a pipeline asks for itself, at `target`. One and the same object for all its deliveries of one reading. */
  service: SealedService | null
  target: Target | null
}

interface PendingRow extends Lane, Pick<SealedService, 'provider' | 'build_states' | 'settings' | 'creator'> {
  id: string
  organization_id: string
  attempts: number
  give_up_at: string
  target: Target | null
  message_id: string
  service_id: string | null
  secrets_sealed: Buffer | null
  secrets_key_id: string | null
}

/** The first few of each lane, in order. */
export async function listPending(
  db: Db,
  shelf: Shelf,
  lanes: readonly Lane[],
  mostPerLane: number,
): Promise<PendingDelivery[]> {
  const { rows } = await sql<PendingRow>`
    select d.id, d.owner_id, d.lane, d.organization_id, d.attempts, d.give_up_at, d.target, d.message_id,
      s.id as service_id, s.provider, s.build_states, s.settings, s.secrets_sealed, s.secrets_key_id,
      case when u.id is not null then json_build_object('id', u.id, 'name', u.name) end as creator
    from unnest(${lanes.map((lane) => lane.owner_id)}::uuid[], ${lanes.map(({ lane }) => lane)}::text[])
      as w (owner_id, lane)
    cross join lateral (
      select * from notification_deliveries p
      where p.owner_id = w.owner_id and p.lane = w.lane and p.state = 'pending' order by p.seq limit ${mostPerLane}
    ) d
    left join notification_services s on s.id = d.service_id
    left join users u on u.id = s.created_by
    order by d.seq`.execute(db)
  const messages = await shelf.find(new Set(rows.map(({ message_id: id }) => id)))
  const services = new Map<string, SealedService>()
  return rows.flatMap((row) => {
    const message = messages.get(row.message_id)
    // Deleted since, and its deliveries with it.
    if (message === undefined) return []
    const { id, owner_id, lane, organization_id, attempts, give_up_at, target } = row
    const service = serviceOf(row, services)
    return [{ id, owner_id, lane, organization_id, attempts, give_up_at, target, message, service }]
  })
}

function serviceOf(row: PendingRow, known: Map<string, SealedService>): SealedService | null {
  if (row.service_id === null) return null
  const found = known.get(row.service_id)
  if (found !== undefined) return found
  const { provider, organization_id, build_states, settings, secrets_sealed, secrets_key_id, creator } = row
  const service = {
    id: row.service_id,
    provider,
    organization_id,
    build_states,
    settings,
    secrets_sealed,
    secrets_key_id,
    creator,
  }
  known.set(row.service_id, service)
  return service
}
