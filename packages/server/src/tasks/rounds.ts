// Work that is looked for every few seconds, too often for a queue: each worker makes its rounds, and whatever two
// of them find at once is done by one and refused to the other.
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { RunningTasks } from './run.ts'

export interface Round<Context> {
  everySeconds: number
  /** `stopping` is for those that could go on for long; they come to an end when it is aborted. */
  run(context: Context, stopping: AbortSignal): Promise<unknown>
}

export function makeRounds<Context>(
  log: Logger,
  context: Context,
  rounds: Readonly<Record<string, Round<Context>>>,
): RunningTasks {
  const stopping = new AbortController()
  // All of them wait with it; a warning of a leak would be wrong.
  setMaxListeners(0, stopping.signal)
  const go = async (name: string, { everySeconds, run }: Round<Context>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await run(context, stopping.signal).catch((error: unknown) =>
        log.error({ err: error, round: name }, 'A round ended with an error.'),
      )
      await delay(everySeconds * 1000, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const ended = Promise.all(Object.entries(rounds).map(([name, round]) => go(name, round)))
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}
