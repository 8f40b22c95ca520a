// Two connection pools, and Kysely over each.
import { Kysely, type Transaction } from 'kysely'
import pg from 'pg'
import { pipelineDialect } from './driver.ts'
import type { Tables } from './generated/tables.ts'
import { OutageWatch } from './outage.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Pool {
  pool: pg.Pool
  db: Db
}

/** The database of requests. Background work uses `slow`, so that it never takes the connections of requests. */
export interface Database extends Pool {
  slow: Pool
  outage: OutageWatch
  close(): Promise<void>
}

/** A network that drops packets reports no error, so every wait for the database has a limit. */
export interface DatabaseLimits {
  /** Also for a connection of the pool to become free. */
  connectSeconds: number
  /** PostgreSQL cancels a statement that takes longer. A connection without an answer even then is destroyed. */
  statementSeconds: number
}

export interface DatabaseOptions {
  /** The sum of both pools. */
  maxConnections?: number
  limits?: DatabaseLimits
  /** As pg_stat_activity shows it. */
  applicationName?: string
}

const usualLimits: DatabaseLimits = { connectSeconds: 8, statementSeconds: 10 }
/** How much longer than PostgreSQL's own limit this side waits. */
export const silenceMs = 2000
const keepAliveMs = 10_000
/** The share of the pool for background work. */
const slowShare = 0.4

export function openDatabase(
  connection: string | pg.PoolConfig,
  { maxConnections = 20, limits = usualLimits, applicationName = 'millrace' }: DatabaseOptions = {},
): Database {
  const outage = new OutageWatch()
  const given: pg.PoolConfig = typeof connection === 'string' ? { connectionString: connection } : connection
  const config = {
    ...given,
    ...passwordOf(given),
    types,
    pipeline: true,
    application_name: applicationName,
    options: sessionSettings(limits),
    connectionTimeoutMillis: limits.connectSeconds * 1000,
    query_timeout: limits.statementSeconds * 1000 + silenceMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  }
  const slowConnections = Math.max(1, Math.floor(slowShare * maxConnections))
  const quick = openPool({ ...config, max: Math.max(1, maxConnections - slowConnections) }, outage)
  const slow = openPool({ ...config, max: slowConnections }, outage)
  const close = async () => {
    outage.reportTo(null)
    await Promise.all([quick.pool.end(), slow.pool.end()])
  }
  return { ...quick, slow, outage, close }
}

function openPool(config: pg.PoolConfig, outage: OutageWatch): Pool {
  const pool = new pg.Pool(config)
  // The pool closes a connection that fails while idle; the next statement opens another.
  pool.on('error', (error) => outage.note(error))
  // A connection that fails while in use fails its statement. Without a listener its error would end the process too.
  pool.on('connect', (client) => client.on('error', () => {}))
  return { pool, db: new Kysely<Tables>({ dialect: pipelineDialect(pool, (error) => outage.note(error)) }) }
}

/** pg hides the password of a configuration, so that copies of the object lack it. */
export const passwordOf = ({ password }: pg.ClientConfig): Pick<pg.ClientConfig, 'password'> =>
  password === undefined ? {} : { password }

/**
 * PostgreSQL too must detect a dead network path: a transaction whose client is gone holds its locks until then. It ignores
 * the TCP settings on a Unix socket.
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
 * A connection outside the pools, for migrations and for COPY, which cannot be pipelined. Both may take any time, so only the
 * keep-alive probes of TCP detect a lost database.
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
