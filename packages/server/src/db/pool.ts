// The connection pool and Kysely on top of it.
import { availableParallelism } from 'node:os'
import { Kysely, type Transaction } from 'kysely'
import pg from 'pg'
import { batchClient, passwordOf } from './client.ts'
import { BatchDialect } from './driver.ts'
import { GatedPool } from './gated-pool.ts'
import { SharedConnections } from './shared-connections.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Database {
  pool: pg.Pool
  db: Db
  close(): Promise<void>
}

/** The database may run on another machine, which is then hardly smaller than this one. */
const few = Math.max(4, 3 * availableParallelism())

export function openDatabase(connection: string | pg.PoolConfig, maxConnections = 20): Database {
  const given = typeof connection === 'string' ? { connectionString: connection } : connection
  const config = {
    ...given,
    Client: batchClient(types),
    types,
    max: maxConnections,
    // A statement need not wait for the answer to the one before it.
    pipeline: true,
    application_name: 'millrace',
    options: '-c timezone=UTC -c statement_timeout=30000 -c idle_in_transaction_session_timeout=60000',
  }
  const pool = new GatedPool(config, few)
  // A connection that dies while idle is dropped by the pool; the next query opens another.
  pool.on('error', () => {})
  // One that dies while in use fails its query; left unheard, its error would end the process too.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new BatchDialect(pool) })
  const shared = new SharedConnections(pool, Math.min(availableParallelism(), Math.floor(maxConnections / 4)))
  ways.set(db, { pool, shared })
  const close = async () => {
    await shared.close()
    await pool.end()
  }
  return { pool, db, close }
}

/** Where a statement may be given to directly: for one that may take long or write, and for one that is soon answered. */
interface Ways {
  pool: pg.Pool
  shared: SharedConnections
}

const ways = new WeakMap<Db, Ways>()

/** A transaction has none, since its statements belong to one connection. */
export const waysOf = (db: Db): Ways | undefined => ways.get(db)

/** A connection outside the pool, for COPY, which bears no other statement on its way beside it. */
export async function connectAlone(pool: pg.Pool): Promise<pg.Client> {
  const client = new pg.Client({ ...pool.options, ...passwordOf(pool.options), pipeline: false })
  client.on('error', () => {})
  await client.connect()
  return client
}

const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.TIMESTAMPTZ]: toIso,
  [pg.types.builtins.INT8]: Number,
}

const types: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    parsers[oid] ?? pg.types.getTypeParser(oid, format),
}

/** `2026-01-02 03:04:05.6+00` to `2026-01-02T03:04:05.600Z`. Sessions run in UTC, columns keep milliseconds. */
export function toIso(text: string): string {
  const fraction = text.length > 22 ? text.slice(20, -3) : ''
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0')}Z`
}
