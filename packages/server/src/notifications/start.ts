// Notifications as a worker runs them: one loop that reads the outbox, one that sends.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { pauses } from '../lib/pauses.ts'
import { startDelivering } from './delivery/deliver.ts'
import { relay } from './outbox/relay.ts'
import type { Snapshots } from './messages/snapshots.ts'

/**
 * The outbox is asked rather than listened to: an announcement with every commit would cost more than it saves. A tenth of
 * a second apart, and more when nothing has happened for a while.
 */
const relayMs = { least: 100, most: 500 }

export interface Notifications {
  /** Something may be due earlier than it was. */
  wake(): void
  stop(): Promise<void>
}

export function startRelayAndDelivery(ctx: Context, snapshots: Snapshots): Notifications {
  const stopping = new AbortController()
  const delivering = startDelivering(ctx)
  const pause = pauses(relayMs.least, relayMs.most)
  const run = async () => {
    while (!stopping.signal.aborted) {
      const { events, deliveries } = await relay(ctx, snapshots).catch((error: unknown) => {
        ctx.log.error({ err: error }, 'The outbox could not be read; trying again.')
        return { events: 0, deliveries: 0 }
      })
      if (deliveries > 0) delivering.wake()
      await delay(pause(events > 0), undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    wake: delivering.wake,
    async stop() {
      stopping.abort()
      await Promise.all([running, delivering.stop()])
    },
  }
}
