// Turns events of the outbox into pending deliveries: finds who wants each event, renders its message, and stores both with
// the cursor in one transaction. delivery/ sends them. An event that fails is set aside in `failed_rows` and does not hold the
// cursor: it is published later, as soon as it does not fail. The later events of its build wait for it, for some minutes at most.
import type { Context } from '../../context.ts'
import { isDatabaseAway, isDatabaseBusy } from '../../db/away.ts'
import { eachBatchApart } from '../../db/each-row.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'
import { branchQueue, type Message } from '../messages/message.ts'
import { renderMessages } from './render.ts'
import type { Snapshots } from '../messages/snapshots.ts'
import { findSender } from '../providers/table.ts'
import { hasUnread, takeEvents, takeSetAside, type OutboxEvent } from './cursor.ts'
import { insertDeliveries, insertMessages, type NewDelivery } from './enqueue.ts'
import { insertLogEntries, type NewLogEntry } from './event-log.ts'
import { matchNotify, recipientOf } from './match-notify.ts'
import { matchServices, type Listener } from './match-services.ts'
import type { Target } from './targets.ts'
import { keyOf, triggersOf, type EventTrigger } from './triggers.ts'
import { isWanted } from './wanted.ts'

const mostEvents = 500

interface Relayed {
  /** Read, whether or not somebody wanted them. */
  events: number
  deliveries: number
}

/**
 * Reads all events that can be read now. Later ones are for the next call, so that many are read at once. `isBehind`: there were
 * unread events. An open transaction or another worker may keep them from being read now.
 */
export async function relay(ctx: Context, snapshots: Snapshots): Promise<Relayed & { isBehind: boolean }> {
  let most = mostEvents
  let isMore = await hasUnread(ctx.db, ctx.now())
  const all = { events: 0, deliveries: 0, isBehind: isMore }
  while (isMore) {
    const page = await relayPage(ctx, snapshots, most)
    if (page === 'too slow') most = Math.ceil(most / 2)
    else if (page === null) break
    else {
      most = Math.min(mostEvents, most * 2)
      all.events += page.events
      ctx.metrics.relayedEvents.inc(page.events)
      all.deliveries += page.deliveries
      isMore = page.isMore
    }
  }
  return all
}

type Page = Relayed & { isMore: boolean }

/** An event that fails is set aside. Savepoints cost round trips, so they are used only then. null: another worker is reading. */
async function relayPage(
  ctx: Context,
  snapshots: Snapshots,
  most: number,
): Promise<Page | 'too slow' | null> {
  try {
    return await inTransaction(ctx.db, (trx) => relaySome(trx, ctx, snapshots, most, 'together'))
  } catch (error) {
    if (isDatabaseAway(error)) throw error
    if (isDatabaseBusy(error) && most > 1) return 'too slow'
    return inTransaction(ctx.db, (trx) => relaySome(trx, ctx, snapshots, most, 'apart'))
  }
}

async function relaySome(
  trx: Trx,
  ctx: Context,
  snapshots: Snapshots,
  most: number,
  how: 'together' | 'apart',
): Promise<Page | null> {
  const taken = await takeEvents(trx, most, isWanted)
  if (taken === null) return null
  const { read, isMore, hasSetAside } = taken
  if (how === 'together' && !hasSetAside) {
    return { events: read, deliveries: await publish(trx, ctx, snapshots, taken.events), isMore }
  }
  const within = { ...ctx, db: trx }
  const again = await takeSetAside(within, isWanted)
  let deliveries = 0
  await eachBatchApart(
    within,
    'outbox',
    [...again, ...taken.events],
    ({ id }) => String(id),
    async (events) => {
      deliveries += await publish(trx, ctx, snapshots, events)
    },
    { groupOf: ({ build_id: buildId }) => buildId },
  )
  return { events: read, deliveries, isMore }
}

/** Returns the number of deliveries. */
async function publish(
  trx: Trx,
  ctx: Context,
  snapshots: Snapshots,
  events: readonly OutboxEvent[],
): Promise<number> {
  const triggers = events.flatMap(triggersOf)
  const services = await matchServices(trx, triggers)
  const targets = await matchNotify(trx, snapshots, triggers)
  // Both may match the same trigger. The one of a service also has `build_fixed`, so it is rendered.
  const matched = new Map([...targets, ...services].map(({ trigger }) => [keyOf(trigger), trigger]))
  const messages = await renderMessages(trx, snapshots, [...matched.values()])
  const deliveries: NewDelivery[] = []
  const logEntries: NewLogEntry[] = []
  for (const { trigger, listener } of services) {
    const message = messages.get(keyOf(trigger))
    if (message === undefined) continue
    if (listener.provider === 'event_log_api') logEntries.push(newLogEntry(trigger, listener, message))
    else deliveries.push(serviceDelivery(trigger, listener, message))
  }
  for (const { trigger, target } of targets) {
    const message = messages.get(keyOf(trigger))
    if (message !== undefined) deliveries.push(targetDelivery(trigger, target, message))
  }
  await insertMessages(trx, [...deliveries, ...logEntries])
  await insertDeliveries(trx, deliveries, ctx.now())
  await insertLogEntries(trx, logEntries, ctx.now())
  return deliveries.length
}

const newLogEntry = ({ row }: EventTrigger, { id, organization_id }: Listener, message: Message) => ({
  eventId: row.id,
  serviceId: id,
  organizationId: organization_id,
  message,
})

function serviceDelivery({ row }: EventTrigger, listener: Listener, message: Message): NewDelivery {
  const { agent_id: agentId, cluster_token_id: tokenId, test_id: testId, budget_id: budgetId } = row.data
  const queue = findSender(listener.provider)?.queue?.(message)
  return {
    id: newId(),
    eventId: row.id,
    message,
    organizationId: listener.organization_id,
    serviceId: listener.id,
    queue: queue ?? row.build_id ?? agentId ?? tokenId ?? testId ?? budgetId ?? String(row.id),
  }
}

function targetDelivery({ row }: EventTrigger, target: Target, message: Message): NewDelivery {
  const isChat = target.kind === 'slack' || target.kind === 'basecamp_campfire'
  return {
    id: newId(),
    eventId: row.id,
    message,
    organizationId: row.organization_id,
    serviceId: null,
    target,
    recipientId: recipientOf(row.organization_id, target),
    ...(isChat && row.build_id !== null
      ? { queue: branchQueue(message), buildId: row.build_id }
      : { queue: row.build_id ?? String(row.id) }),
  }
}
