// Pollers look for work every few seconds, too often for a queue. Every worker runs all of them; when two workers find
// the same work, one of them gets it.
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { RunningTasks } from './run.ts'

export interface Poller<Context> {
  everySeconds: number
  /** Long work ends early when `stopping` is aborted. */
  run(context: Context, stopping: AbortSignal): Promise<unknown>
}

export function startPollers<Context>(
  log: Logger,
  context: Context,
  pollers: Readonly<Record<string, Poller<Context>>>,
): RunningTasks {
  const stopping = new AbortController()
  // All of them wait with it; a warning of a leak would be wrong.
  setMaxListeners(0, stopping.signal)
  const go = async (name: string, { everySeconds, run }: Poller<Context>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await run(context, stopping.signal).catch((error: unknown) =>
        log.error({ err: error, poller: name }, 'A poller failed.'),
      )
      await delay(everySeconds * 1000, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const ended = Promise.all(Object.entries(pollers).map(([name, poller]) => go(name, poller)))
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
