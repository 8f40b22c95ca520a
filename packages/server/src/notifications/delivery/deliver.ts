// Sends pending deliveries, many ordered queues at once. Every recipient has one reserved slot. Beyond that, recipients whose
// attempts do not all fail share further slots, a few each. So a receiver that hangs delays no other: it occupies its
// reserved slot and, for the time of one attempt, a small part of the shared ones.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { groupBy } from '../../lib/group-by.ts'
import { pollInterval } from '../../lib/poll-interval.ts'
import { traced } from '../../lib/tracing.ts'
import { openMessageCache } from '../messages/message-cache.ts'
import { attemptDelivery, type AttemptResult, type Verdict } from './attempt.ts'
import { backoffMs } from './backoff.ts'
import {
  claimQueues,
  listPending,
  renewMs,
  type OrderedQueue,
  type PendingDelivery,
  type Share,
} from './ordered-queues.ts'
import { startRecorder } from './recorder.ts'
import { openTransports } from './transports.ts'

export interface Delivering {
  /** There may be new deliveries. */
  wake(): void
  /** Begins no further attempts, and returns when those in flight have ended. */
  stop(): Promise<void>
}

const sharedSlots = 128
const queuesPerRecipient = 16
const deliveriesAtOnce = 10
/** Finds retries that are due and queues whose worker died; the relay calls `wake` for new deliveries. */
const pollMs = { least: 250, most: 1000 }
/** After so many failures in a row a recipient has only its reserved slot. */
const mostFailures = 5

interface Recipient {
  inFlight: number
  failures: number
}

export function startDelivering(ctx: Context): Delivering {
  const stopping = new AbortController()
  const transports = openTransports(ctx.config)
  const recorder = startRecorder(ctx)
  const cache = openMessageCache(ctx.db)
  const recipients = new Map<string, Recipient>()
  const inFlight = new Map<string, { queue: OrderedQueue; sending: Promise<void> }>()
  let alarm = new AbortController()
  const wake = () => alarm.abort()

  const claim = async (): Promise<number> => {
    const used = [...recipients.values()].reduce(
      (sum, { inFlight: count }) => sum + Math.max(0, count - 1),
      0,
    )
    const queues = await claimQueues(ctx.db, ctx.now(), {
      shared: sharedSlots - used,
      perRecipient: queuesPerRecipient,
      shares: new Map([...recipients].map(([id, recipient]) => [id, shareOf(recipient)])),
      held: [...inFlight.values()].map(({ queue }) => queue),
    })
    if (queues.length === 0) return 0
    const pending = groupBy(await listPending(ctx.db, cache, queues, deliveriesAtOnce), keyOf)
    for (const queue of queues) send(queue, pending.get(keyOf(queue)) ?? [])
    return queues.length
  }

  const send = (queue: OrderedQueue, pending: PendingDelivery[]): void => {
    const recipient = recipients.get(queue.owner_id) ?? { inFlight: 0, failures: 0 }
    recipients.set(queue.owner_id, recipient)
    recipient.inFlight += 1
    const sending = sendAll(queue, recipient, pending)
      .catch((error: unknown) =>
        ctx.log.error({ err: error }, 'Deliveries could not be recorded; they will be sent again.'),
      )
      .finally(() => {
        inFlight.delete(keyOf(queue))
        recipient.inFlight -= 1
        if (recipient.inFlight === 0 && recipient.failures === 0) recipients.delete(queue.owner_id)
        wake()
      })
    inFlight.set(keyOf(queue), { queue, sending })
  }

  const attempt = (delivery: PendingDelivery): Promise<AttemptResult> => {
    const attributes = {
      'millrace.delivery.id': delivery.id,
      'millrace.delivery.provider': providerOf(delivery),
      'millrace.delivery.attempt': delivery.attempts + 1,
      'millrace.delivery.event': delivery.message.event,
    }
    const span = { name: `deliver ${providerOf(delivery)}`, kind: 'client', attributes } as const
    return traced(ctx.tracer, span, async (open) => {
      const result = await attemptDelivery(ctx, transports, delivery)
      if (open !== null && result.error !== null) ctx.tracer?.fail(open, 'delivery_failed')
      return result
    })
  }

  const sendAll = async (
    queue: OrderedQueue,
    recipient: Recipient,
    pending: PendingDelivery[],
  ): Promise<void> => {
    let leasedAt = performance.now()
    for (const [n, delivery] of pending.entries()) {
      const result = await attempt(delivery)
      recipient.failures = result.error === null ? 0 : recipient.failures + 1
      const verdict = judge(ctx, delivery, result)
      ctx.metrics.deliveries.observe(
        { provider: providerOf(delivery), result: verdict.kind },
        result.durationMs / 1000,
      )
      if (verdict.kind === 'dead') ctx.metrics.deadDeliveries.inc()
      const isLast = verdict.kind === 'retry' || n === pending.length - 1 || stopping.signal.aborted
      const isOld = performance.now() - leasedAt > renewMs
      if (isOld) leasedAt = performance.now()
      const lease = isLast ? 'released' : isOld ? 'renewed' : 'kept'
      const isOpen = await recorder.record({ pending: delivery, result, verdict, lease })
      if (isLast) return
      // The other deliveries were discarded or deleted too.
      if (!isOpen) break
    }
    await recorder.release(queue)
  }

  const pause = pollInterval(pollMs.least, pollMs.most)
  const run = async () => {
    while (!stopping.signal.aborted) {
      alarm = new AbortController()
      const claimed = await claim().catch((error: unknown) => {
        ctx.log.error({ err: error }, 'Pending deliveries could not be read; trying again.')
        return 0
      })
      const pauseMs = pause(claimed)
      if (claimed === 0) await delay(pauseMs, undefined, { signal: alarm.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    wake,
    async stop() {
      stopping.abort()
      wake()
      await running
      await Promise.all([...inFlight.values()].map(({ sending }) => sending))
    },
  }
}

const keyOf = ({ owner_id: recipient, lane }: OrderedQueue) => `${recipient} ${lane}`

const providerOf = ({ service, target }: PendingDelivery): string =>
  service?.provider ?? `notify_${target?.kind ?? 'unknown'}`

const shareOf = ({ inFlight, failures }: Recipient): Share => ({
  free: Math.max(0, (failures >= mostFailures ? 1 : queuesPerRecipient) - inFlight),
  hasReserved: inFlight === 0,
})

function judge(ctx: Context, pending: PendingDelivery, { error, isFinal }: AttemptResult): Verdict {
  if (error === null) return { kind: 'delivered' }
  const at = new Date(ctx.now().getTime() + backoffMs(pending.attempts + 1)).toISOString()
  return isFinal || at > pending.give_up_at ? { kind: 'dead' } : { kind: 'retry', at }
}
