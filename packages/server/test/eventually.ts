import { once } from 'node:events'

/** Polls until the condition holds, at growing intervals, and fails after the deadline. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | undefined | false>,
  withinMs = 120_000,
): Promise<T> {
  const deadline = AbortSignal.timeout(withinMs)
  for (let pauseMs = 20; ; pauseMs = Math.min(2 * pauseMs, 200)) {
    const seen = await check()
    if (seen !== undefined && seen !== false) return seen
    if (deadline.aborted) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await once(AbortSignal.timeout(pauseMs), 'abort')
  }
}
