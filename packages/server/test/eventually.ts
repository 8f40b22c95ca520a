import { once } from 'node:events'

/** Waits until the condition holds; fails after the deadline instead of hanging. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  withinMs = 10_000,
): Promise<T> {
  const deadline = AbortSignal.timeout(withinMs)
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    if (deadline.aborted) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await once(AbortSignal.timeout(20), 'abort')
  }
}
