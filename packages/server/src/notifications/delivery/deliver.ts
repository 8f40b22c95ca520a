// Sends what is pending, many lanes at once. Every owner has a place of its own, which no other can take; beyond that, those
// whose attempts do not all fail take from places that are shared, a few each. So a receiver that hangs holds up nobody: it
// has its own place, and for the time of one attempt a small part of the shared ones.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '../../context.ts'
import { pauses } from '../../lib/pauses.ts'
import { attemptDelivery, type AttemptResult } from './attempt.ts'
import { backoffMs } from './backoff.ts'
import {
  claimLanes,
  listPending,
  renewMs,
  type Lane,
  type PendingDelivery,
  type Share,
} from './ordered-queues.ts'
import { openMeans } from './transports.ts'
import { startRecorder, type Verdict } from './recorder.ts'
import { openShelf } from '../messages/message-cache.ts'

export interface Delivering {
  /** There is something new. */
  wake(): void
  /** Begins nothing more, and returns when what is under way has ended. */
  stop(): Promise<void>
}

const sharedPlaces = 128
const lanesPerOwner = 16
const deliveriesAtOnce = 10
/** For what is due again, and what others left; of what is new the relay says so. */
const lookMs = { least: 250, most: 1000 }
/** So many failures in a row, and an owner has only its own place. */
const patience = 5

interface Owner {
  inFlight: number
  failures: number
}

export function startDelivering(ctx: Context): Delivering {
  const stopping = new AbortController()
  const means = openMeans(ctx.config)
  const recorder = startRecorder(ctx)
  const shelf = openShelf(ctx.db)
  const owners = new Map<string, Owner>()
  const underWay = new Set<Promise<void>>()
  const served = new Map<string, Lane>()
  let alarm = new AbortController()
  const wake = () => alarm.abort()

  const claim = async (): Promise<number> => {
    const shared = sharedPlaces - sum([...owners.values()].map(({ inFlight }) => Math.max(0, inFlight - 1)))
    const shares = new Map([...owners].map(([id, owner]) => [id, shareOf(owner)]))
    const held = [...served.values()]
    const lanes = await claimLanes(ctx.db, ctx.now(), { shared, usual: lanesPerOwner, shares, held })
    if (lanes.length === 0) return 0
    const standing = new Map(lanes.map((lane) => [keyOf(lane), { lane, pending: [] as PendingDelivery[] }]))
    for (const pending of await listPending(ctx.db, shelf, lanes, deliveriesAtOnce)) {
      standing.get(keyOf(pending))?.pending.push(pending)
    }
    for (const { lane, pending } of standing.values()) serve(lane, pending)
    return lanes.length
  }

  const serve = (lane: Lane, first: PendingDelivery[]): void => {
    const owner = owners.get(lane.owner_id) ?? { inFlight: 0, failures: 0 }
    owners.set(lane.owner_id, owner)
    owner.inFlight += 1
    served.set(keyOf(lane), lane)
    const task = sendAll(lane, owner, first)
      .catch((error: unknown) =>
        ctx.log.error({ err: error }, 'Deliveries could not be recorded; they will be sent again.'),
      )
      .finally(() => {
        underWay.delete(task)
        served.delete(keyOf(lane))
        owner.inFlight -= 1
        if (owner.inFlight === 0 && owner.failures === 0) owners.delete(lane.owner_id)
        wake()
      })
    underWay.add(task)
  }

  const sendAll = async (lane: Lane, owner: Owner, pending: PendingDelivery[]): Promise<void> => {
    if (pending.length === 0) await recorder.release(lane)
    let leasedAt = performance.now()
    for (const [n, delivery] of pending.entries()) {
      const result = await attemptDelivery(ctx, means, delivery)
      owner.failures = result.error === null ? 0 : owner.failures + 1
      const verdict = judge(ctx, delivery, result)
      const isLast = verdict.kind === 'retry' || n === pending.length - 1 || stopping.signal.aborted
      const isOld = performance.now() - leasedAt > renewMs
      if (isOld) leasedAt = performance.now()
      const lease = isLast ? 'released' : isOld ? 'renewed' : 'kept'
      const isOpen = await recorder.record({ pending: delivery, result, verdict, lease })
      if (isLast) return
      // What was loaded with it was discarded as well, or deleted.
      if (!isOpen) {
        await recorder.release(lane)
        return
      }
    }
  }

  const pause = pauses(lookMs.least, lookMs.most)
  const run = async () => {
    while (!stopping.signal.aborted) {
      alarm = new AbortController()
      const claimed = await claim().catch((error: unknown) => {
        ctx.log.error({ err: error }, 'Pending deliveries could not be read; trying again.')
        return 0
      })
      const pauseMs = pause(claimed > 0)
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
      await Promise.all(underWay)
    },
  }
}

const keyOf = ({ owner_id: owner, lane }: Lane) => `${owner} ${lane}`

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

const shareOf = ({ inFlight, failures }: Owner): Share => ({
  free: Math.max(0, (failures >= patience ? 1 : lanesPerOwner) - inFlight),
  hasOwn: inFlight === 0,
})

function judge(ctx: Context, pending: PendingDelivery, { error, isFinal }: AttemptResult): Verdict {
  if (error === null) return { kind: 'delivered' }
  const at = new Date(ctx.now().getTime() + backoffMs(pending.attempts + 1)).toISOString()
  return isFinal || at > pending.give_up_at ? { kind: 'dead' } : { kind: 'retry', at }
}
