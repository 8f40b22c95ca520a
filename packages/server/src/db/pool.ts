// The connection pool and Kysely on top of it.
import { availableParallelism } from 'node:os'
import { Kysely, type Transaction } from 'kysely'
import pg from 'pg'
import { batchClient, passwordOf } from './client.ts'
import { BatchDialect } from './driver.ts'
import { GatedPool } from './gated-pool.ts'
import { OutageWatch } from './outage.ts'
import type { Tables } from './generated/tables.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Database {
  pool: pg.Pool
  db: Db
  outage: OutageWatch
  close(): Promise<void>
}

/** A path that drops packets never says so, so everything that waits for the database gives up at some time. */
export interface DatabaseLimits {
  /** Also for a connection of the pool to become free. */
  connectSeconds: number
  /** PostgreSQL breaks off a statement that takes longer; a connection that is silent even then is destroyed. */
  statementSeconds: number
}

export interface DatabaseOptions {
  maxConnections?: number
  limits?: DatabaseLimits
  /** How PostgreSQL lists the sessions. */
  applicationName?: string
}

const usualLimits: DatabaseLimits = { connectSeconds: 8, statementSeconds: 10 }
/** How much longer than PostgreSQL's own limit this side waits. */
export const silenceMs = 2000
const keepAliveMs = 10_000

/** The database may run on another machine, which is then hardly smaller than this one. */
const few = Math.max(4, 3 * availableParallelism())

export function openDatabase(
  connection: string | pg.PoolConfig,
  { maxConnections = 20, limits = usualLimits, applicationName = 'millrace' }: DatabaseOptions = {},
): Database {
  const outage = new OutageWatch()
  const given: pg.PoolConfig = typeof connection === 'string' ? { connectionString: connection } : connection
  const config = {
    ...given,
    ...passwordOf(given),
    Client: batchClient(types, (error) => outage.note(error)),
    types,
    max: maxConnections,
    // A statement need not wait for the answer to the one before it.
    pipeline: true,
    application_name: applicationName,
    options: sessionSettings(limits),
    connectionTimeoutMillis: limits.connectSeconds * 1000,
    query_timeout: limits.statementSeconds * 1000 + silenceMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  }
  const pool = new GatedPool(config, few, { onRefused: (error) => outage.note(error) })
  // A connection that dies while idle is dropped by the pool; the next query opens another.
  pool.on('error', (error) => outage.note(error))
  // One that dies while in use fails its query; left unheard, its error would end the process too.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new BatchDialect(pool) })
  const close = async () => {
    outage.reportTo(null)
    await pool.end()
  }
  return { pool, db, outage, close }
}

/**
 * The server too must notice a silent path: a transaction that was cut off holds its locks until then. PostgreSQL ignores the
 * TCP settings on a Unix socket.
 */
function sessionSettings({ statementSeconds }: DatabaseLimits): string {
  const milliseconds = statementSeconds * 1000
  const settings = {
    timezone: 'UTC',
    statement_timeout: milliseconds,
    idle_in_transaction_session_timeout: milliseconds,
    tcp_keepalives_idle: 10,
    tcp_keepalives_interval: 3,
    tcp_keepalives_count: 3,
    tcp_user_timeout: milliseconds,
  }
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ')
}

/**
 * A connection outside the pool, for COPY, which bears no other statement on its way beside it, and for migrations. Both may
 * take any time, so only the keep-alive probes of TCP tell whether the database is still there.
 */
export async function connectAlone(pool: pg.Pool): Promise<pg.Client> {
  const client = new pg.Client({
    ...pool.options,
    ...passwordOf(pool.options),
    pipeline: false,
    query_timeout: 0,
  })
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
