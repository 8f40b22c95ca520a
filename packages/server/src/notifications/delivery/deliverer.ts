// Sends pending deliveries, many ordered queues at once. It is always in one of these modes:
//
//   claiming   It leases queues with due deliveries, as many as recipients.ts has slots for, and begins to send them.
//   woken      Like `claiming`, but deliveries have come or slots have become free since it began. No pause follows.
//   pausing    The last claim found nothing. A poll finds retries that are due and queues whose worker died.
//   stopping   It begins no further attempts, and waits for those in flight.
//   stopped    No attempt is in flight.
//
// A queue that is being sent is in flight, in any mode but `stopped`: its deliveries are attempted one after the other, each
// outcome is recorded with what becomes of the lease, and the queue is released after the last delivery or a failure.
import assert from 'node:assert/strict'
import type { Context } from '../../context.ts'
import { groupBy } from '../../lib/group-by.ts'
import { pollInterval } from '../../lib/poll-interval.ts'
import { traced } from '../../lib/tracing.ts'
import { steadyPauses, type Pauses } from '../../tasks/pauses.ts'
import { openMessageCache, type MessageCache } from '../messages/message-cache.ts'
import { attemptDelivery, type AttemptResult, type Verdict } from './attempt.ts'
import { backoffMs } from './backoff.ts'
import {
  claimQueues,
  listPending,
  renewMs,
  type OrderedQueue,
  type PendingDelivery,
} from './ordered-queues.ts'
import { Recipients } from './recipients.ts'
import { startRecorder, type Recorder } from './recorder.ts'
import { openTransports, type Transports } from './transports.ts'

/** The modes that may follow each one. */
const transitions = {
  claiming: ['claiming', 'woken', 'pausing', 'stopping'],
  woken: ['claiming', 'stopping'],
  pausing: ['claiming', 'stopping'],
  stopping: ['stopped'],
  stopped: [],
} as const satisfies Record<string, readonly string[]>

type Mode = keyof typeof transitions

const deliveriesAtOnce = 10
const pollMs = { least: 250, most: 1000 }

export class Deliverer {
  private readonly ctx: Context
  private readonly pauses: Pauses
  private readonly transports: Transports
  private readonly recorder: Recorder
  private readonly cache: MessageCache
  private readonly recipients = new Recipients()
  private readonly inFlight = new Map<string, { queue: OrderedQueue; sending: Promise<void> }>()
  private mode: Mode = 'claiming'
  private alarm = new AbortController()
  private readonly running: Promise<void>

  constructor(ctx: Context, pauses: Pauses = steadyPauses) {
    this.ctx = ctx
    this.pauses = pauses
    this.transports = openTransports(ctx.config)
    this.recorder = startRecorder(ctx)
    this.cache = openMessageCache(ctx.db)
    this.running = this.run()
  }

  /** There may be new deliveries, or free slots. */
  wake(): void {
    if (this.mode === 'claiming') this.enter('woken')
    if (this.mode === 'pausing') this.alarm.abort()
  }

  /** Begins no further attempts, and returns when those in flight have ended. */
  async stop(): Promise<void> {
    this.enter('stopping')
    this.alarm.abort()
    await this.running
    await Promise.all([...this.inFlight.values()].map(({ sending }) => sending))
    this.enter('stopped')
  }

  private enter(mode: Mode): void {
    const allowed: readonly Mode[] = transitions[this.mode]
    assert(allowed.includes(mode), `${this.mode} -> ${mode}`)
    this.mode = mode
  }

  private async run(): Promise<void> {
    const pauseMs = pollInterval(pollMs.least, pollMs.most)
    for (;;) {
      const claimed = await this.claim().catch((error: unknown) => {
        this.ctx.log.error({ err: error }, 'Pending deliveries could not be read; trying again.')
        return 0
      })
      const ms = pauseMs(claimed)
      if (claimed === 0 && this.mode === 'claiming') await this.pause(ms)
      if (this.mode === 'stopping') return
      this.enter('claiming')
    }
  }

  private async pause(ms: number): Promise<void> {
    this.alarm = new AbortController()
    this.enter('pausing')
    await this.pauses.pause(ms, this.alarm.signal)
  }

  private async claim(): Promise<number> {
    const { ctx } = this
    const held = [...this.inFlight.values()].map(({ queue }) => queue)
    const queues = await claimQueues(ctx.db, ctx.now(), { ...this.recipients.capacity(), held })
    if (queues.length === 0) return 0
    this.pauses.stayAwake()
    const pending = groupBy(await listPending(ctx.db, this.cache, queues, deliveriesAtOnce), keyOf)
    for (const queue of queues) this.send(queue, pending.get(keyOf(queue)) ?? [])
    return queues.length
  }

  private send(queue: OrderedQueue, pending: PendingDelivery[]): void {
    this.recipients.takeSlot(queue.owner_id)
    const sending = this.sendAll(queue, pending)
      .catch((error: unknown) =>
        this.ctx.log.error({ err: error }, 'Deliveries could not be recorded; they will be sent again.'),
      )
      .finally(() => {
        this.inFlight.delete(keyOf(queue))
        this.recipients.releaseSlot(queue.owner_id)
        this.wake()
      })
    this.inFlight.set(keyOf(queue), { queue, sending })
  }

  private async sendAll(queue: OrderedQueue, pending: PendingDelivery[]): Promise<void> {
    let leasedAt = performance.now()
    for (const [n, delivery] of pending.entries()) {
      const result = await this.attempt(delivery)
      const verdict = judge(this.ctx, delivery, result)
      this.noteResult(delivery, result, verdict)
      const isLast = verdict.kind === 'retry' || n === pending.length - 1 || this.mode === 'stopping'
      const isOld = performance.now() - leasedAt > renewMs
      if (isOld) leasedAt = performance.now()
      const lease = isLast ? 'released' : isOld ? 'renewed' : 'kept'
      const isOpen = await this.recorder.record({ pending: delivery, result, verdict, lease })
      if (isLast) return
      // The other deliveries were discarded or deleted too.
      if (!isOpen) break
    }
    await this.recorder.release(queue)
  }

  private attempt(delivery: PendingDelivery): Promise<AttemptResult> {
    const { tracer } = this.ctx
    const attributes = {
      'millrace.delivery.id': delivery.id,
      'millrace.delivery.provider': providerOf(delivery),
      'millrace.delivery.attempt': delivery.attempts + 1,
      'millrace.delivery.event': delivery.message.event,
    }
    const span = { name: `deliver ${providerOf(delivery)}`, kind: 'client', attributes } as const
    return traced(tracer, span, async (open) => {
      const result = await attemptDelivery(this.ctx, this.transports, delivery)
      if (open !== null && result.error !== null) tracer?.fail(open, 'delivery_failed')
      return result
    })
  }

  private noteResult(
    delivery: PendingDelivery,
    { error, durationMs }: AttemptResult,
    { kind }: Verdict,
  ): void {
    const { metrics } = this.ctx
    this.recipients.noteAttempt(delivery.owner_id, error !== null)
    metrics.deliveries.observe({ provider: providerOf(delivery), result: kind }, durationMs / 1000)
    if (kind === 'dead') metrics.deadDeliveries.inc()
  }
}

const keyOf = ({ owner_id: recipient, ordered_queue: name }: OrderedQueue) => `${recipient} ${name}`

const providerOf = ({ service, target }: PendingDelivery): string =>
  service?.provider ?? `notify_${target?.kind ?? 'unknown'}`

function judge(ctx: Context, pending: PendingDelivery, { error, isFinal }: AttemptResult): Verdict {
  if (error === null) return { kind: 'delivered' }
  const at = new Date(ctx.now().getTime() + backoffMs(pending.attempts + 1)).toISOString()
  return isFinal || at > pending.give_up_at ? { kind: 'dead' } : { kind: 'retry', at }
}
