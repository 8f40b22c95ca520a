/*
 * What makes it safe to remember tokens: a change of access counts on every server before whoever made it gets an
 * answer. Three things together do that.
 *
 * The database announces each change (a trigger on the tables). A server that remembers holds a lock, shared with the
 * other servers; when it hears of a change it forgets, lets go of the lock and takes it again. Whoever made the change
 * waits, after the commit, until that lock could be had alone: then everybody has forgotten.
 *
 * A server that hears nothing any more (its connection hangs, or it was stopped for a while) must not be waited for
 * forever. It may trust its memory only for `trustMs` after the database answered last, and the wait is longer.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import type { Db } from '../db/pool.ts'
import type { TokenMemory } from './token-memory.ts'

const channel = 'access_changed'
/** Any number that no other lock of this program uses. */
const lock = 4_872_001_131
const beatMs = 1000
const trustMs = 2500
const waitMs = 5000
const reconnectAfterMs = 250
const askAgainMs = 20

export interface AccessWatch {
  stop(): Promise<void>
}

/** Returns when the memory is in use. */
export async function watchAccess(
  pool: pg.Pool,
  memory: TokenMemory,
  onError: (error: unknown) => void,
): Promise<AccessWatch> {
  const stopping = new AbortController()
  const { signal } = stopping
  const keepWatching = async (first: pg.PoolClient) => {
    for (let client: pg.PoolClient | null = first; !signal.aborted;) {
      try {
        client ??= await connect(pool)
        await vouch(client, memory, signal)
      } catch (error) {
        if (!signal.aborted) onError(error)
      } finally {
        memory.forget()
        // A connection that has listened is not given back for others to use.
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

/** Holds the lock and lets the memory be trusted, until the connection breaks or `signal` says stop. */
async function vouch(client: pg.PoolClient, memory: TokenMemory, signal: AbortSignal): Promise<void> {
  let changed = new AbortController()
  const forget = () => {
    memory.forget()
    changed.abort()
  }
  client.on('notification', forget)
  client.on('end', forget)
  while (!signal.aborted) {
    changed = new AbortController()
    const over = AbortSignal.any([signal, changed.signal])
    await ask(client, 'select pg_advisory_lock_shared($1)')
    while (!over.aborted) {
      const askedAt = performance.now()
      await ask(client, 'select $1::bigint')
      if (over.aborted) break
      memory.trustUntil(askedAt + trustMs)
      await delay(beatMs, undefined, { signal: over }).catch(() => {})
    }
    await ask(client, 'select pg_advisory_unlock_shared($1)')
  }
}

/** A connection that does not answer in time is as good as broken. */
async function ask(client: pg.PoolClient, text: string): Promise<void> {
  const timeout = AbortSignal.timeout(waitMs * 2)
  const late = once(timeout, 'abort').then(() => {
    throw new Error('The connection that hears of changed access does not answer.')
  })
  await Promise.race([client.query(text, [lock]), late])
}

/**
 * To be called after the commit of whatever takes a right away: returns when no server remembers what was before.
 * A server that has not let go by then has lost its right to remember, and its connection is cut.
 */
export async function settleAccess(db: Db, patienceMs = waitMs): Promise<void> {
  const settled = new AbortController()
  const locked = lockAlone(db, patienceMs).finally(() => settled.abort())
  await Promise.all([locked, askToLetGo(db, settled.signal)])
}

/** Again and again: who let go before the lock was asked for has it again already. */
async function askToLetGo(db: Db, settled: AbortSignal): Promise<void> {
  while (!settled.aborted) {
    await sql`select pg_notify(${channel}, '')`.execute(db)
    await delay(askAgainMs, undefined, { signal: settled }).catch(() => {})
  }
}

async function lockAlone(db: Db, patienceMs: number): Promise<void> {
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
