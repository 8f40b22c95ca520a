// The database's clock, as measured by this process. Replicas compare times that others wrote (deadlines, leases, the order of
// events), and the clocks of their machines may differ by minutes. Between measurements the time goes on with the monotonic
// clock, so that a step of the machine's clock changes nothing.
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

interface DatabaseClock {
  now(): Date
  /** When this process started. */
  startedAt(): Date
  stop(): Promise<void>
}

const measureEveryMs = 60_000
const samples = 3

/** Returns when the difference is known. A measurement that fails leaves the last one in use. */
export async function followDatabaseClock(pool: pg.Pool): Promise<DatabaseClock> {
  let offsetMs = await measureOffset(pool)
  const stopping = new AbortController()
  const { signal } = stopping
  const follow = async () => {
    while (!signal.aborted) {
      await delay(measureEveryMs, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) offsetMs = await measureOffset(pool).catch(() => offsetMs)
    }
  }
  const following = follow()
  return {
    now: () => new Date(performance.now() + offsetMs),
    startedAt: () => new Date(offsetMs),
    async stop() {
      stopping.abort()
      await following
    },
  }
}

/** The database's time when the monotonic clock of this process was zero. The sample with the shortest round trip is the most exact. */
async function measureOffset(pool: pg.Pool): Promise<number> {
  let best = { tookMs: Infinity, offsetMs: 0 }
  for (let sample = 0; sample < samples; sample++) {
    const askedAt = performance.now()
    const { rows } = await pool.query<{ ms: number }>(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms',
      [],
    )
    const answeredAt = performance.now()
    const tookMs = answeredAt - askedAt
    const offsetMs = (rows[0]?.ms ?? 0) + tookMs / 2 - answeredAt
    if (tookMs < best.tookMs) best = { tookMs, offsetMs }
  }
  return best.offsetMs
}
