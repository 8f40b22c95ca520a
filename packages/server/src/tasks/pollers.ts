// Pollers look for work every few seconds, too often for a queue. Every worker runs all of them; when two workers find
// the same work, one of them gets it. They sleep while nothing happens (pauses.ts).
import { setMaxListeners } from 'node:events'
import { sql, type RawBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'
import { steadyPauses, type Pauses } from './pauses.ts'
import { unmeasured, type Around, type RunningTasks } from './run.ts'

export interface Poller<Context> {
  /** The pause between two runs. */
  everySeconds: number
  /**
   * An SQL condition that holds whenever there is work. The conditions of all pollers are read together, with one statement
   * a second, so that looking for work costs little while there is none. Without a condition the poller always runs.
   * Work that becomes due by time also needs `startWorkerPauses` in worker.ts to know the time.
   */
  hasWork?: RawBuilder<boolean>
  /** It looks at something outside of the database, of whose changes nothing tells, so it never sleeps. */
  isSteady?: true
  /** Long work ends early when `stopping` is aborted. */
  run(context: Context, stopping: AbortSignal): Promise<unknown>
}

const lookEverySeconds = 1

interface PollerOptions {
  around?: Around
  pauses?: Pauses
}

export function startPollers<Context>(
  log: Logger,
  db: Db,
  context: Context,
  pollers: Readonly<Record<string, Poller<Context>>>,
  { around = unmeasured, pauses = steadyPauses }: PollerOptions = {},
): RunningTasks {
  const stopping = new AbortController()
  const { signal } = stopping
  // All of them wait with it; a warning of a leak would be wrong.
  setMaxListeners(0, signal)
  const runOnce = async (name: string, { run }: Poller<Context>): Promise<void> => {
    await around(name, () => run(context, signal)).catch((error: unknown) =>
      log.error({ err: error, poller: name }, 'A poller failed.'),
    )
  }
  const runAlways = async (name: string, poller: Poller<Context>): Promise<void> => {
    const { pause } = poller.isSteady ? steadyPauses : pauses
    while (!signal.aborted) {
      await runOnce(name, poller)
      await pause(poller.everySeconds * 1000, signal)
    }
  }
  const runWhenNeeded = async (): Promise<void> => {
    const running = new Map<string, Promise<void>>()
    const findWork = workFinder(pollers)
    const runAndRest = async (name: string, poller: Poller<Context>) => {
      await runOnce(name, poller)
      await steadyPauses.pause(poller.everySeconds * 1000, signal)
      running.delete(name)
    }
    while (!signal.aborted) {
      const found = await findWork(db).catch((error: unknown) => {
        log.error({ err: error }, 'Could not look for work; trying again.')
        return []
      })
      if (found.length > 0) pauses.stayAwake()
      for (const [name, poller] of found) {
        if (!running.has(name)) running.set(name, runAndRest(name, poller))
      }
      await pauses.pause(lookEverySeconds * 1000, signal)
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
