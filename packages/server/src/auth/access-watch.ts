/*
 * Makes it safe to cache tokens and sessions: a change of access takes effect on every server before the caller who made it gets a
 * response.
 *
 * A trigger on the tables notifies all servers of each change. A server with a cache holds a shared advisory lock. When it
 * is notified, it clears the cache, releases the lock and takes it again. The server that made the change waits, after the
 * commit, until it gets the lock exclusively: then every cache has been cleared.
 *
 * A server that receives no notifications (its connection hangs, or it was suspended) must not block the others forever.
 * It may use its cache only for `trustMs` after the last response of the database, and the others wait longer than that.
 * A server that nobody asks for a token does not ask the database either, so its cache is not used at first when
 * somebody does.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import type { Db } from '../db/pool.ts'
import type { TokenCache } from './token-cache.ts'

type Cache = Pick<TokenCache, 'clear' | 'onLookup' | 'trustUntil'>

const channel = 'access_changed'
/** No other advisory lock of this program has this key. */
const lock = 4_872_001_131
const beatMs = 1000
const trustMs = 2500
const waitMs = 5000
const reconnectAfterMs = 250
const notifyAgainMs = 20

interface AccessWatch {
  stop(): Promise<void>
}

/** Several caches as one. */
export const allOf = (...caches: readonly Cache[]): Cache => ({
  clear: () => caches.forEach((cache) => cache.clear()),
  onLookup: (listener) => caches.forEach((cache) => cache.onLookup(listener)),
  trustUntil: (monotonicMs) => caches.forEach((cache) => cache.trustUntil(monotonicMs)),
})

/** Returns when this server listens for changes. */
export async function watchAccess(
  pool: pg.Pool,
  cache: Cache,
  onError: (error: unknown) => void,
): Promise<AccessWatch> {
  const stopping = new AbortController()
  const { signal } = stopping
  const use = watchUse(cache)
  const keepWatching = async (first: pg.PoolClient) => {
    for (let client: pg.PoolClient | null = first; !signal.aborted;) {
      try {
        client ??= await connect(pool)
        await enableCache(client, { cache, use }, signal)
      } catch (error) {
        if (!signal.aborted) onError(error)
      } finally {
        cache.clear()
        // A connection that has listened must not be reused.
        client?.release(true)
        client = null
      }
      await delay(reconnectAfterMs, undefined, { signal }).catch(() => {})
    }
  }
  const watching = keepWatching(await connect(pool))
  return {
    async stop() {
      stopping.abort()
      await watching
    },
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  const client = await pool.connect()
  try {
    await client.query(`listen ${channel}`)
    return client
  } catch (error) {
    client.release(true)
    throw error
  }
}

/** The lookups in a cache. */
interface Use {
  /** Returns at the first lookup since the last call, or when `over` is aborted. */
  next(over: AbortSignal): Promise<void>
}

function watchUse(cache: Cache): Use {
  let isUsed = false
  let noteUse = () => {}
  cache.onLookup(() => {
    isUsed = true
    noteUse()
  })
  return {
    async next(over) {
      if (!isUsed && !over.aborted) {
        await new Promise<void>((resolve) => {
          noteUse = () => {
            over.removeEventListener('abort', noteUse)
            resolve()
          }
          over.addEventListener('abort', noteUse)
        })
        noteUse = () => {}
      }
      isUsed = false
    },
  }
}

/** Holds the lock and keeps the cache enabled while it is used, until the connection breaks or `signal` aborts. */
async function enableCache(
  client: pg.PoolClient,
  { cache, use }: { cache: Cache; use: Use },
  signal: AbortSignal,
): Promise<void> {
  let changed = new AbortController()
  const onChange = () => {
    cache.clear()
    changed.abort()
  }
  client.on('notification', onChange)
  client.on('end', onChange)
  while (!signal.aborted) {
    changed = new AbortController()
    const over = AbortSignal.any([signal, changed.signal])
    await ask(client, 'select pg_advisory_lock_shared($1)')
    while (!over.aborted) {
      const askedAt = performance.now()
      await ask(client, 'select $1::bigint')
      if (over.aborted) break
      cache.trustUntil(askedAt + trustMs)
      await delay(beatMs, undefined, { signal: over }).catch(() => {})
      await use.next(over)
    }
    await ask(client, 'select pg_advisory_unlock_shared($1)')
  }
}

/** A connection that does not respond in time counts as broken. */
async function ask(client: pg.PoolClient, text: string): Promise<void> {
  const timeout = AbortSignal.timeout(waitMs * 2)
  const late = once(timeout, 'abort').then(() => {
    throw new Error('The connection that is notified of changed access does not respond.')
  })
  await Promise.race([client.query(text, [lock]), late])
}

/**
 * To be called after the commit of a change that takes access away. Returns when no server has the old access cached. The
 * connection of a server that still holds the lock after `patienceMs` is terminated: its cache is no longer in use.
 */
export async function flushTokenCaches(db: Db, patienceMs = waitMs): Promise<void> {
  const done = new AbortController()
  const locked = lockExclusively(db, patienceMs).finally(() => done.abort())
  await Promise.all([locked, notifyUntil(db, done.signal)])
}

/** Repeated, because a server that released the lock before we queued for it holds it again. */
async function notifyUntil(db: Db, done: AbortSignal): Promise<void> {
  while (!done.aborted) {
    await sql`select pg_notify(${channel}, '')`.execute(db)
    await delay(notifyAgainMs, undefined, { signal: done }).catch(() => {})
  }
}

async function lockExclusively(db: Db, patienceMs: number): Promise<void> {
  try {
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = ${sql.lit(patienceMs)}`.execute(trx)
      await sql`select pg_advisory_xact_lock(${lock}::bigint)`.execute(trx)
    })
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === '55P03')) throw error
    await sql`
      select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and (classid::bigint << 32 | objid::bigint) = ${lock}::bigint and objsubid = 1
        and granted and database = (select oid from pg_database where datname = current_database())`.execute(
      db,
    )
  }
}
