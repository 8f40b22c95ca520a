// The pauses of background loops. A worker is in one of these modes:
//
//   awake     There was a request that may have made work, or a loop has found some. Loops pause as long as they say.
//   looking   The mode after sleeping. Every loop that pauses looks for work once, at once.
//   asleep    Nothing has happened for some seconds. Loops that have paused wait for the next look.
//   stopped   No loop waits.
//
//   awake -> asleep -> looking -> asleep | awake     asleep -> awake     any -> stopped
//
// A worker that is asleep looks at the next time that the tables know (`nextTimes`: deadlines, schedules, retries), and is woken by
// notifications: http/signal-work.ts sends them after requests, conductor/dispatch/wake.ts with changes of jobs. A notification
// may be lost, so the worker also looks when it has slept for `longestSleepMs`. A loss delays work, and loses none.
import { setTimeout as delay } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'

/** There may be work for background loops. */
export const workChannel = 'millrace_work'

export interface Pauses {
  /** Returns when the loop is to look for work again, after `ms` at the earliest, or when `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>
  /** A loop has found work, or a request may have made some, so there may be more. */
  stayAwake(): void
  /** Something has run that may have made work. */
  look(): void
}

/** For loops that run without a worker: they never sleep. */
export const steadyPauses: Pauses = {
  pause: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
  stayAwake() {},
  look() {},
}

export interface SleepingPauses extends Pauses {
  stop(): Promise<void>
}

interface Sleep {
  log: Logger
  db: Db
  /** Each is the next time at which there is work, as SQL. */
  nextTimes: readonly RawBuilder<string | null>[]
  longestSleepMs: number
  awakeMs?: number
}

/** Longer than the time between two notifications of a process, and than most transactions take. */
const usualAwakeMs = 5000
/** By then every loop has found what is due, so that it is not found again. */
const lookMs = 500
/** Loops may have looked this long ago. */
const lookBackSeconds = 3

export function startPauses(sleep: Sleep): SleepingPauses {
  const { log, db, longestSleepMs, awakeMs = usualAwakeMs } = sleep
  const stopping = new AbortController()
  const findNext = nextTimeFinder(sleep.nextTimes)
  const waiting = new Set<() => void>()
  let awakeUntil = performance.now() + awakeMs
  let looks = 0
  let sleeping = new AbortController()

  const isAwake = () => performance.now() < awakeUntil
  const wakeFor = (ms: number) => {
    awakeUntil = Math.max(awakeUntil, performance.now() + ms)
    looks++
    for (const wake of waiting) wake()
    sleeping.abort()
  }
  const untilWoken = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const wake = () => {
        waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  const longestSleep = async () => {
    const ms = await findNext(db).catch((error: unknown) => {
      log.warn({ err: error }, 'Could not read when background work is due; looking for it meanwhile.')
      return lookMs
    })
    return Math.min(Math.max(ms ?? longestSleepMs, 0), longestSleepMs)
  }
  const run = async () => {
    const { signal } = stopping
    while (!signal.aborted) {
      if (isAwake()) {
        await delay(awakeUntil - performance.now(), undefined, { signal }).catch(() => {})
        continue
      }
      sleeping = new AbortController()
      const ms = await longestSleep()
      await delay(ms, undefined, { signal: AbortSignal.any([signal, sleeping.signal]) }).catch(() => {})
      if (!sleeping.signal.aborted) wakeFor(lookMs)
    }
  }
  const running = run()
  return {
    async pause(ms, signal) {
      const before = looks
      await delay(ms, undefined, { signal }).catch(() => {})
      if (!signal.aborted && !isAwake() && looks === before) await untilWoken(signal)
    },
    stayAwake() {
      if (isAwake()) awakeUntil = Math.max(awakeUntil, performance.now() + awakeMs)
      else wakeFor(awakeMs)
    },
    look: () => wakeFor(lookMs),
    async stop() {
      stopping.abort()
      for (const release of waiting) release()
      await running
    },
  }
}

/** Returns the milliseconds until the next of these times. Negative: it has passed. Null: none is known. */
function nextTimeFinder(times: readonly RawBuilder<string | null>[]) {
  const next = (time: RawBuilder<string | null>) =>
    sql`(select min(t.at) from (${time}) as t (at) where t.at > s.since)`
  const read = prepared(
    () => sql<{ ms: number | null }>`
      select (extract(epoch from least(${sql.join(times.map(next))}) - now()) * 1000)::float8 as ms
      from (select now() - make_interval(secs => ${sql.lit(lookBackSeconds)})) as s (since)`,
  )
  return async (db: Db): Promise<number | null> => {
    if (times.length === 0) return null
    const { rows } = await read().execute(db)
    return rows[0]?.ms ?? null
  }
}
