// Runs notifications in a worker: one loop reads the outbox, another one sends.
import type { Context } from '../context.ts'
import { pollInterval } from '../lib/poll-interval.ts'
import { steadyPauses, type Pauses } from '../tasks/pauses.ts'
import { Deliverer } from './delivery/deliverer.ts'
import { relay } from './outbox/relay.ts'
import type { Snapshots } from './messages/snapshots.ts'

/**
 * The outbox is polled, since a NOTIFY with every commit would cost more. Events that happen between two polls are read
 * together. Polls are rarer while nothing happens, and stop while the worker sleeps.
 */
const relayMs = { least: 150, most: 500 }

export interface Notifications {
  /** Deliveries may be due earlier than before. */
  wake(): void
  stop(): Promise<void>
}

export function startRelayAndDelivery(
  ctx: Context,
  snapshots: Snapshots,
  pauses: Pauses = steadyPauses,
): Notifications {
  const stopping = new AbortController()
  const deliverer = new Deliverer(ctx, pauses)
  const pauseMs = pollInterval(relayMs.least, relayMs.most)
  const run = async () => {
    while (!stopping.signal.aborted) {
      const { events, deliveries, isBehind } = await relay(ctx, snapshots).catch((error: unknown) => {
        ctx.log.error({ err: error }, 'The outbox could not be read; trying again.')
        return { events: 0, deliveries: 0, isBehind: true }
      })
      if (deliveries > 0) deliverer.wake()
      if (isBehind) pauses.stayAwake()
      await pauses.pause(pauseMs(events), stopping.signal)
    }
  }
  const running = run()
  return {
    wake: () => deliverer.wake(),
    async stop() {
      stopping.abort()
      await Promise.all([running, deliverer.stop()])
    },
  }
}
