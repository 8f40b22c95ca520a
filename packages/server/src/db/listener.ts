// Listens for PostgreSQL notifications on one connection of the pool, which must lead to PostgreSQL itself, and reconnects when
// it breaks. Notifications sent in between are lost, so callers check for changes in `onConnected`.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

export interface Listener {
  stop(): Promise<void>
}

interface Listening {
  /** The handler of each channel. */
  channels: Readonly<Record<string, (payload: string) => void>>
  onConnected(): void
  onError(error: unknown): void
}

const reconnectAfterMs = 250
/** A connection that only listens would not detect a dead network path, so it sends a statement now and then. */
const probeEveryMs = 5000
const answerWithinMs = 5000

/** Returns when it listens. */
export async function listen(pool: pg.Pool, listening: Listening): Promise<Listener> {
  const stopping = new AbortController()
  const { signal } = stopping
  let connection = await connect(pool, listening, signal)
  const keepConnected = async () => {
    for (;;) {
      const error = await connection.broken
      if (signal.aborted) return
      listening.onError(error)
      await delay(reconnectAfterMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      connection = await connect(pool, listening, signal).catch((failure: unknown) => ({
        broken: Promise.resolve(failure),
      }))
    }
  }
  const ended = keepConnected()
  return {
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

interface Connection {
  /** Resolves with the error that broke it, or when it is stopped. */
  broken: Promise<unknown>
}

async function connect(
  pool: pg.Pool,
  { channels, onConnected }: Listening,
  signal: AbortSignal,
): Promise<Connection> {
  const client = await pool.connect()
  const broken = once(client, 'end', { signal }).catch((error: unknown) => error)
  // Reported by `broken`.
  client.on('error', () => {})
  client.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload))
  // Closes the connection: one that has listened must not return to the pool.
  const close = (outcome: unknown) => {
    client.release(true)
    return outcome
  }
  try {
    for (const channel of Object.keys(channels)) await client.query(`listen ${channel}`)
  } catch (error) {
    throw close(error)
  }
  onConnected()
  // A failed probe breaks the connection, which `broken` reports.
  const probing = setInterval(() => {
    client.query({ text: 'select 1', query_timeout: answerWithinMs } as pg.QueryConfig).catch(() => {})
  }, probeEveryMs)
  void broken.then(() => clearInterval(probing))
  return { broken: broken.then(close) }
}
