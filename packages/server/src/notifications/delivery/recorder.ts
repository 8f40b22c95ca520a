// Writes down what became of attempts. Those that end while a write is under way are written together by the next.
import { sql } from 'kysely'
import { recordAudit } from '../../audit/record.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { AttemptResult } from './attempt.ts'
import { batch } from '../../db/batch.ts'
import { leaseSeconds, type Lane, type PendingDelivery } from './ordered-queues.ts'

export type Verdict = { kind: 'delivered' } | { kind: 'dead' } | { kind: 'retry'; at: string }

export interface Outcome {
  pending: PendingDelivery
  result: AttemptResult
  verdict: Verdict
  /** What becomes of the lane's lease. */
  lease: 'kept' | 'renewed' | 'released'
}

export interface Recorder {
  /** When it is written: whether the rest of the lane may be sent, or was discarded in the meantime. */
  record(outcome: Outcome): Promise<boolean>
  /** Gives back a lane without having tried anything. */
  release(lane: Lane): Promise<unknown>
}

interface Entry {
  lane: Lane
  outcome: Outcome | null
  done(isOpen: boolean): void
  fail(error: unknown): void
}

export function startRecorder(ctx: Context): Recorder {
  let waiting: Entry[] = []
  let isWriting = false
  const write = async (): Promise<void> => {
    if (isWriting) return
    isWriting = true
    while (waiting.length > 0) {
      const entries = waiting
      waiting = []
      try {
        const open = await inTransaction(ctx.db, (trx) => writeAll(trx, ctx, entries))
        for (const { outcome, done } of entries) done(open.has(outcome?.pending.id ?? ''))
      } catch (error) {
        for (const { fail } of entries) fail(error)
      }
    }
    isWriting = false
  }
  const add = (lane: Lane, outcome: Outcome | null) =>
    new Promise<boolean>((done, fail) => {
      waiting.push({ lane, outcome, done, fail })
      void write()
    })
  return {
    record: (outcome) => add(outcome.pending, outcome),
    release: (lane) => add(lane, null),
  }
}

/** Returns the deliveries whose lane is still to be sent. */
async function writeAll(trx: Trx, ctx: Context, entries: readonly Entry[]): Promise<Set<string>> {
  const now = ctx.now().toISOString()
  const outcomes = entries.flatMap(({ outcome }) => outcome ?? [])
  const lanes = entries.flatMap(({ lane, outcome }) =>
    outcome?.lease === 'kept'
      ? []
      : [
          {
            owner_id: lane.owner_id,
            lane: lane.lane,
            is_released: outcome?.lease !== 'renewed',
            due_at: outcome?.verdict.kind === 'retry' ? outcome.verdict.at : now,
          },
        ],
  )
  // Services before lanes before deliveries, as everywhere: those who change a service hold it first, too.
  const broken = await countDeadLetters(trx, outcomes)
  const [, , moved] = await batch(trx, [
    clearDeadLetters(deliveredTo(outcomes)),
    lockLanes(lanes),
    writeOutcomes(outcomes, now),
    settleLanes(lanes),
  ] as const)
  await keepMemories(trx, outcomes)
  for (const service of broken) await markBroken(trx, service, lastErrorOf(service, outcomes), now)
  return new Set(moved.flatMap(({ id, is_open: isOpen }) => (isOpen ? [id] : [])))
}

const lockLanes = (lanes: readonly Lane[]) => sql`
  select from notification_lanes l
  join jsonb_to_recordset(${JSON.stringify(lanes)}::jsonb) as w (owner_id uuid, lane text)
    on w.owner_id = l.owner_id and w.lane = l.lane
  order by l.owner_id, l.lane for update of l`

function writeOutcomes(outcomes: readonly Outcome[], now: string) {
  const rows = outcomes.map(({ pending, result, verdict }) => ({
    delivery_id: pending.id,
    organization_id: pending.organization_id,
    number: pending.attempts + 1,
    started_at: result.startedAt,
    duration_ms: result.durationMs,
    error: result.error,
    exchanges: result.exchanges,
    state: verdict.kind === 'retry' ? 'pending' : verdict.kind,
  }))
  // One that was discarded or deleted in the meantime stays so. The ids are named twice for the planner, which would
  // otherwise read a table that it has no statistics of yet from end to end.
  return sql<{ id: string; is_open: boolean }>`
    with told as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as t (delivery_id uuid, organization_id uuid,
        number integer, started_at timestamptz, duration_ms integer, error text, exchanges jsonb, state text)
    ), moved as (
      update notification_deliveries d set attempts = t.number,
        state = case d.state when 'pending' then t.state else d.state end,
        finished_at = case when d.state = 'pending' and t.state <> 'pending' then ${now}::timestamptz
          else d.finished_at end
      from told t where d.id = t.delivery_id and d.id = any (${outcomes.map(({ pending }) => pending.id)}::uuid[])
      returning d.id, d.state = t.state as is_open
    ), kept as (
      insert into notification_attempts
        (delivery_id, organization_id, number, started_at, duration_ms, error, exchanges)
      select t.delivery_id, t.organization_id, t.number, t.started_at, t.duration_ms, t.error, t.exchanges
      from told t join moved m on m.id = t.delivery_id
      on conflict (delivery_id, number) do nothing
    )
    select id, is_open from moved`
}

/** Locked by now, so what is pending is known: an empty lane goes, another waits or is due. */
const settleLanes = (lanes: ReadonlyArray<Lane & { is_released: boolean; due_at: string }>) => sql`
  with written as (
    select * from jsonb_to_recordset(${JSON.stringify(lanes)}::jsonb)
      as w (owner_id uuid, lane text, is_released boolean, due_at timestamptz)
  ), emptied as (
    delete from notification_lanes l using written w
    where w.is_released and l.owner_id = w.owner_id and l.lane = w.lane and not exists (
      select from notification_deliveries d
      where d.owner_id = l.owner_id and d.lane = l.lane and d.state = 'pending')
    returning l.owner_id, l.lane
  )
  update notification_lanes l set due_at = w.due_at,
    leased_until = case when not w.is_released then now() + make_interval(secs => ${leaseSeconds}) end
  from written w
  where l.owner_id = w.owner_id and l.lane = w.lane
    and not exists (select from emptied e where e.owner_id = l.owner_id and e.lane = l.lane)`

async function keepMemories(trx: Trx, outcomes: readonly Outcome[]): Promise<void> {
  for (const { pending, result, verdict } of outcomes) {
    if (verdict.kind !== 'delivered' || pending.service === null) continue
    for (const [key, data] of result.memories) {
      if (data === null) {
        await sql`delete from notification_memories where service_id = ${pending.service.id} and key = ${key}`.execute(
          trx,
        )
      } else {
        await sql`
          insert into notification_memories (service_id, key, organization_id, data)
          select s.id, ${key}, s.organization_id, ${JSON.stringify(data)}::jsonb
          from notification_services s where s.id = ${pending.service.id}
          on conflict (service_id, key) do update set data = excluded.data, updated_at = now()`.execute(trx)
      }
    }
  }
}

const mostDeadLetters = 50

interface BrokenService {
  id: string
  organization_id: string
  description: string
  provider: string
}

const deliveredTo = (outcomes: readonly Outcome[]): string[] => [
  ...new Set(
    outcomes.flatMap(({ pending, verdict }) =>
      verdict.kind === 'delivered' && pending.service ? [pending.service.id] : [],
    ),
  ),
]

const clearDeadLetters = (serviceIds: readonly string[]) => sql`
  update notification_services set dead_letters_in_a_row = 0
  where id in (select id from notification_services
    where id = any (${serviceIds}::uuid[]) and dead_letters_in_a_row > 0 order by id for update)`

/** So many in a row, and a service is taken to be broken: nothing more is sent until somebody enables it. */
async function countDeadLetters(trx: Trx, outcomes: readonly Outcome[]): Promise<BrokenService[]> {
  const delivered = new Set(deliveredTo(outcomes))
  const counted = outcomes.flatMap(({ pending: { service }, verdict }) =>
    verdict.kind === 'dead' && service !== null && !delivered.has(service.id) ? [service.id] : [],
  )
  if (counted.length === 0) return []
  const { rows } = await sql<BrokenService & { count: number }>`
    update notification_services s set dead_letters_in_a_row = dead_letters_in_a_row + w.count
    from (select id, count(*)::int as count from unnest(${counted}::uuid[]) as d (id) group by id) w
    where s.id = w.id
    returning s.id, s.organization_id, s.description, s.provider, s.dead_letters_in_a_row as count`.execute(
    trx,
  )
  return rows.filter(({ count }) => count >= mostDeadLetters)
}

const lastErrorOf = ({ id }: BrokenService, outcomes: readonly Outcome[]): string =>
  outcomes.findLast(({ pending, result }) => pending.service?.id === id && result.error !== null)?.result
    .error ?? ''

async function markBroken(trx: Trx, service: BrokenService, lastError: string, now: string): Promise<void> {
  const reason = `${mostDeadLetters} deliveries in a row were given up. The last one: ${lastError}`
  const marked = await trx
    .updateTable('notification_services')
    .set({ broken_at: now, broken_reason: reason })
    .where('id', '=', service.id)
    .where('broken_at', 'is', null)
    .executeTakeFirst()
  if (marked.numUpdatedRows === 0n) return
  await discardPending(trx, service.organization_id, service.id, now)
  await recordAudit(
    trx,
    { kind: 'system' },
    {
      organizationId: service.organization_id,
      type: 'NOTIFICATION_SERVICE_BROKEN',
      subject: {
        type: 'NotificationService',
        uuid: service.id,
        name: service.description || service.provider,
      },
      data: { reason },
    },
  )
}

/** What waits is not sent any more; what is being sent at this moment ends as it will. */
export async function discardPending(trx: Trx, orgId: string, serviceId: string, now: string): Promise<void> {
  await sql`
    update notification_deliveries set state = 'discarded', finished_at = ${now}
    where organization_id = ${orgId} and service_id = ${serviceId} and owner_id = ${serviceId} and state = 'pending'`.execute(
    trx,
  )
}
