// Turns events of the outbox into pending deliveries: finds who wants each event, renders its message, and stores both with
// the cursor in one transaction. delivery/ sends them.
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'
import { branchQueue, type Message } from '../messages/message.ts'
import { renderMessages } from './render.ts'
import type { Snapshots } from '../messages/snapshots.ts'
import { findSender } from '../providers/table.ts'
import { hasUnread, takeEvents } from './cursor.ts'
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

/** Reads all events that can be read now. Later ones are for the next call, so that many are read at once. */
export async function relay(ctx: Context, snapshots: Snapshots): Promise<Relayed> {
  const all: Relayed = { events: 0, deliveries: 0 }
  let isMore = await hasUnread(ctx.db, ctx.now())
  while (isMore) {
    const some = await inTransaction(ctx.db, (trx) => relaySome(trx, ctx, snapshots))
    if (some === null) break
    all.events += some.events
    ctx.metrics.relayedEvents.inc(some.events)
    all.deliveries += some.deliveries
    isMore = some.isMore
  }
  return all
}

/** null: another worker reads the outbox. */
async function relaySome(
  trx: Trx,
  ctx: Context,
  snapshots: Snapshots,
): Promise<(Relayed & { isMore: boolean }) | null> {
  const taken = await takeEvents(trx, mostEvents, isWanted)
  if (taken === null) return null
  const { events, read, isMore } = taken
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
  return { events: read, deliveries: deliveries.length, isMore }
}

const newLogEntry = ({ row }: EventTrigger, { id, organization_id }: Listener, message: Message) => ({
  eventId: row.id,
  serviceId: id,
  organizationId: organization_id,
  message,
})

function serviceDelivery({ row }: EventTrigger, listener: Listener, message: Message): NewDelivery {
  const { agent_id: agentId, cluster_token_id: tokenId } = row.data
  const queue = findSender(listener.provider)?.queue?.(message)
  return {
    id: newId(),
    eventId: row.id,
    message,
    organizationId: listener.organization_id,
    serviceId: listener.id,
    queue: queue ?? row.build_id ?? agentId ?? tokenId ?? String(row.id),
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
