import { setTimeout as delay } from 'node:timers/promises'

/** Stops waiting after `ms`. Ignores failures, because a part that is being stopped may be broken already. */
export async function within(ms: number, work: () => Promise<unknown>): Promise<void> {
  const waiting = new AbortController()
  const timeout = delay(ms, undefined, { signal: waiting.signal })
  await Promise.race([work(), timeout]).catch(() => {})
  waiting.abort()
  await timeout.catch(() => {})
}
