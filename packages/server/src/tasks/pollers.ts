// Pollers look for work every few seconds, too often for a queue. Every worker runs all of them; when two workers find
// the same work, one of them gets it.
import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'
import { unmeasured, type RunningTasks } from './run.ts'

export interface Poller<Context> {
  /** The pause between two runs. */
  everySeconds: number
  /**
   * An SQL condition that holds whenever there is work. The conditions of all pollers are read together, with one statement
   * a second, so that looking for work costs little while there is none. Without a condition the poller always runs.
   */
  hasWork?: RawBuilder<boolean>
  /** Long work ends early when `stopping` is aborted. */
  run(context: Context, stopping: AbortSignal): Promise<unknown>
}

const lookEverySeconds = 1

export function startPollers<Context>(
  log: Logger,
  db: Db,
  context: Context,
  pollers: Readonly<Record<string, Poller<Context>>>,
  around = unmeasured,
): RunningTasks {
  const stopping = new AbortController()
  const { signal } = stopping
  // All of them wait with it; a warning of a leak would be wrong.
  setMaxListeners(0, signal)
  const pause = (seconds: number) => delay(seconds * 1000, undefined, { signal }).catch(() => {})
  const runOnce = async (name: string, { everySeconds, run }: Poller<Context>): Promise<void> => {
    await around(name, () => run(context, signal)).catch((error: unknown) =>
      log.error({ err: error, poller: name }, 'A poller failed.'),
    )
    await pause(everySeconds)
  }
  const runAlways = async (name: string, poller: Poller<Context>): Promise<void> => {
    while (!signal.aborted) await runOnce(name, poller)
  }
  const runWhenNeeded = async (): Promise<void> => {
    const running = new Map<string, Promise<void>>()
    const findWork = workFinder(pollers)
    while (!signal.aborted) {
      const found = await findWork(db).catch((error: unknown) => {
        log.error({ err: error }, 'Could not look for work; trying again.')
        return []
      })
      for (const [name, poller] of found) {
        if (running.has(name)) continue
        running.set(
          name,
          runOnce(name, poller).finally(() => running.delete(name)),
        )
      }
      await pause(lookEverySeconds)
    }
    await Promise.all(running.values())
  }
  const always = Object.entries(pollers).filter(([, { hasWork }]) => hasWork === undefined)
  const ended = Promise.all([runWhenNeeded(), ...always.map(([name, poller]) => runAlways(name, poller))])
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** Returns a function that finds the pollers whose condition holds. */
function workFinder<Context>(pollers: Readonly<Record<string, Poller<Context>>>) {
  const watched = Object.entries(pollers).flatMap(([name, poller]) =>
    poller.hasWork === undefined ? [] : [{ name, poller, hasWork: poller.hasWork }],
  )
  const conditions = watched.map(({ hasWork }) => hasWork)
  const readAll = prepared(
    () => sql<{ found: boolean[] }>`select array[${sql.join(conditions)}]::boolean[] as found`,
  )
  return async (db: Db): Promise<Array<[string, Poller<Context>]>> => {
    const { rows } = watched.length === 0 ? { rows: [] } : await readAll().execute(db)
    return watched.filter((_, index) => rows[0]?.found[index]).map(({ name, poller }) => [name, poller])
  }
}
