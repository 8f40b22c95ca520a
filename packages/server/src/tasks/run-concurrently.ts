// Work that waits for others: much of it at once, and none of it for the slowest.
import { setTimeout as delay } from 'node:timers/promises'

export interface ConcurrentWork<T> {
  /** At once. */
  most: number
  stopping: AbortSignal
  claim(room: number): Promise<readonly T[]>
  work(item: T): Promise<void>
  failed(error: unknown): void
}

const lookAgainMs = 500

/**
 * Goes on until there is nothing left to claim; what is being done when it is to stop is done to its end. It looks once more
 * after the last one has ended: that may be what others were waiting for.
 */
export async function runConcurrently<T>({
  most,
  stopping,
  claim,
  work,
  failed,
}: ConcurrentWork<T>): Promise<void> {
  const going = new Set<Promise<void>>()
  for (;;) {
    const room = stopping.aborted ? 0 : most - going.size
    for (const item of room > 0 ? await claim(room) : []) {
      const done: Promise<void> = work(item)
        .catch(failed)
        .finally(() => going.delete(done))
      going.add(done)
    }
    if (going.size === 0) return
    await Promise.race([...going, delay(lookAgainMs)])
  }
}
