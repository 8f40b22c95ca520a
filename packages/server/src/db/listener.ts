// One connection of the pool that hears what other transactions announce. When it breaks, another takes its place;
// what was announced in between is lost, so whoever listens looks again each time it is connected.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'

export interface Listener {
  stop(): Promise<void>
}

export interface Listening {
  /** By channel: what to do with an announcement. */
  channels: Readonly<Record<string, (payload: string) => void>>
  onConnected(): void
  onError(error: unknown): void
}

const reconnectAfterMs = 250
/** A connection that only listens would never notice a path that has gone silent, so it asks. */
const askEveryMs = 5000
const answerWithinMs = 5000

/** Returns when it hears. */
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
  /** Resolves with what broke it, or when it was asked to stop. */
  broken: Promise<unknown>
}

async function connect(
  pool: pg.Pool,
  { channels, onConnected }: Listening,
  signal: AbortSignal,
): Promise<Connection> {
  const client = await pool.connect()
  const broken = once(client, 'end', { signal }).catch((error: unknown) => error)
  // Heard above while it matters; afterwards nobody needs to know.
  client.on('error', () => {})
  client.on('notification', ({ channel, payload = '' }) => channels[channel]?.(payload))
  // A connection that has listened is not given back for others to use.
  const letGo = (outcome: unknown) => {
    client.release(true)
    return outcome
  }
  try {
    for (const channel of Object.keys(channels)) await client.query(`listen ${channel}`)
  } catch (error) {
    throw letGo(error)
  }
  onConnected()
  // A failed question breaks the connection, which is heard above.
  const asking = setInterval(() => {
    client.query({ text: 'select 1', query_timeout: answerWithinMs } as pg.QueryConfig).catch(() => {})
  }, askEveryMs)
  void broken.then(() => clearInterval(asking))
  return { broken: broken.then(letGo) }
}
