import { setTimeout as delay } from 'node:timers/promises'

/** Gives up waiting after that time, and does not mind failures: what is being stopped may be broken already. */
export async function within(ms: number, work: () => Promise<unknown>): Promise<void> {
  const waiting = new AbortController()
  const timeout = delay(ms, undefined, { signal: waiting.signal })
  await Promise.race([work(), timeout]).catch(() => {})
  waiting.abort()
  await timeout.catch(() => {})
}
