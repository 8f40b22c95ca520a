// Records the outcomes of attempts. Outcomes that arrive during a transaction are written by the next one. A queue whose outcome
// cannot be recorded is left alone for a while, so that its receiver does not get the same delivery again and again.
import { sql } from 'kysely'
import type { Context } from '../../context.ts'
import { batch } from '../../db/batch.ts'
import { togetherOrApart } from '../../db/each-row.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { leaseEnd } from '../../tasks/lease.ts'
import type { Outcome } from './attempt.ts'
import { countDeadLetters, disableBroken } from './dead-letters.ts'
import { leaseSeconds, recordedQueue, type OrderedQueue } from './ordered-queues.ts'

export interface Recorder {
  /** Returns when the outcome is stored. False: the other deliveries of the queue were discarded or deleted meanwhile. */
  record(outcome: Outcome): Promise<boolean>
  /** Releases a queue without an attempt. */
  release(queue: OrderedQueue): Promise<unknown>
}

interface Entry {
  queue: OrderedQueue
  outcome: Outcome | null
  done(isOpen: boolean): void
  fail(error: unknown): void
}

export function startRecorder(ctx: Context): Recorder {
  let waiting: Entry[] = []
  let isWriting = false
  const writeApart = togetherOrApart<Entry>(ctx, 'deliveries')
  const write = async (): Promise<void> => {
    if (isWriting) return
    isWriting = true
    while (waiting.length > 0) {
      const entries = waiting
      waiting = []
      try {
        await writeApart(
          entries,
          ({ queue }) => recordedQueue(queue),
          async (some) => {
            const open = await inTransaction(ctx.db, (trx) => writeAll(trx, ctx, some))
            for (const { outcome, done } of some) done(open.has(outcome?.pending.id ?? ''))
          },
        )
        for (const { fail } of entries) fail(new Error('The outcome of a delivery could not be recorded.'))
      } catch (error) {
        for (const { fail } of entries) fail(error)
      }
    }
    isWriting = false
  }
  const add = (queue: OrderedQueue, outcome: Outcome | null) =>
    new Promise<boolean>((done, fail) => {
      waiting.push({ queue, outcome, done, fail })
      void write()
    })
  return {
    record: (outcome) => add(outcome.pending, outcome),
    release: (queue) => add(queue, null),
  }
}

/** Returns the ids of deliveries whose queue may be sent on. */
async function writeAll(trx: Trx, ctx: Context, entries: readonly Entry[]): Promise<Set<string>> {
  const now = ctx.now().toISOString()
  const outcomes = entries.flatMap(({ outcome }) => outcome ?? [])
  const queues = entries
    .filter(({ outcome }) => outcome?.lease !== 'kept')
    .map(({ queue: { owner_id, ordered_queue }, outcome }) => ({
      owner_id,
      ordered_queue,
      is_released: outcome?.lease !== 'renewed',
      due_at: outcome?.verdict.kind === 'retry' ? outcome.verdict.at : now,
    }))
  // Locks are taken in the order services, queues, deliveries, as by requests that change a service.
  const [counted, , written] = await batch(trx, [
    countDeadLetters(outcomes),
    lockQueues(queues),
    updateDeliveries(outcomes, now),
    updateQueues(queues),
  ] as const)
  await updateStates(trx, outcomes)
  await disableBroken(trx, counted, outcomes, now)
  return new Set(written.flatMap(({ id, is_open: isOpen }) => (isOpen ? [id] : [])))
}

const lockQueues = (queues: readonly OrderedQueue[]) => sql`
  select from notification_queues q
  join jsonb_to_recordset(${JSON.stringify(queues)}::jsonb) as w (owner_id uuid, ordered_queue text)
    on w.owner_id = q.owner_id and w.ordered_queue = q.ordered_queue
  order by q.owner_id, q.ordered_queue for update of q`

function updateDeliveries(outcomes: readonly Outcome[], now: string) {
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
  // A delivery that was discarded meanwhile stays so. The ids are listed a second time for the planner, which would
  // otherwise scan a table without statistics from end to end.
  return sql<{ id: string; is_open: boolean }>`
    with attempted as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as t (delivery_id uuid, organization_id uuid,
        number integer, started_at timestamptz, duration_ms integer, error text, exchanges jsonb, state text)
    ), updated as (
      update notification_deliveries d set attempts = t.number,
        state = case d.state when 'pending' then t.state else d.state end,
        finished_at = case when d.state = 'pending' and t.state <> 'pending' then ${now}::timestamptz
          else d.finished_at end
      from attempted t where d.id = t.delivery_id and d.id = any (${outcomes.map(({ pending }) => pending.id)}::uuid[])
      returning d.id, d.state = t.state as is_open
    ), inserted as (
      insert into notification_attempts
        (delivery_id, organization_id, number, started_at, duration_ms, error, exchanges)
      select t.delivery_id, t.organization_id, t.number, t.started_at, t.duration_ms, t.error, t.exchanges
      from attempted t join updated u on u.id = t.delivery_id
      on conflict (delivery_id, number) do nothing
    )
    select id, is_open from updated`
}

/** The queues are locked, so no delivery can be added: deletes the empty ones, and sets when the others are due. */
const updateQueues = (queues: ReadonlyArray<OrderedQueue & { is_released: boolean; due_at: string }>) => sql`
  with given as (
    select * from jsonb_to_recordset(${JSON.stringify(queues)}::jsonb)
      as w (owner_id uuid, ordered_queue text, is_released boolean, due_at timestamptz)
  ), deleted as (
    delete from notification_queues q using given w
    where w.is_released and q.owner_id = w.owner_id and q.ordered_queue = w.ordered_queue and not exists (
      select from notification_deliveries d
      where d.owner_id = q.owner_id and d.ordered_queue = q.ordered_queue and d.state = 'pending')
    returning q.owner_id, q.ordered_queue
  )
  update notification_queues q set due_at = w.due_at,
    leased_until = case when not w.is_released then ${leaseEnd(sql`now()`, leaseSeconds)} end
  from given w
  where q.owner_id = w.owner_id and q.ordered_queue = w.ordered_queue
    and not exists (select from deleted e where e.owner_id = q.owner_id and e.ordered_queue = q.ordered_queue)`

async function updateStates(trx: Trx, outcomes: readonly Outcome[]): Promise<void> {
  for (const { pending, result, verdict } of outcomes) {
    if (verdict.kind !== 'delivered' || pending.service === null) continue
    const { id } = pending.service
    for (const [key, data] of result.stateChanges) {
      const statement =
        data === null
          ? sql`delete from notification_provider_state where service_id = ${id} and key = ${key}`
          : sql`
              insert into notification_provider_state (service_id, key, organization_id, data)
              select s.id, ${key}, s.organization_id, ${JSON.stringify(data)}::jsonb
              from notification_services s where s.id = ${id}
              on conflict (service_id, key) do update set data = excluded.data, updated_at = now()`
      await statement.execute(trx)
    }
  }
}
