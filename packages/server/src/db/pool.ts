// Two connection pools, and Kysely over each. With a pooler such as PgBouncer there is a third, of connections that bypass it.
import { Kysely, type Transaction } from 'kysely'
import pg from 'pg'
import type { Tracer } from '../lib/tracing.ts'
import { isMisled } from './away.ts'
import { pipelineDialect, type StatementMode } from './driver.ts'
import type { Tables } from './generated/tables.ts'
import { OutageWatch } from './outage.ts'
import { RenewingPool } from './renewing-pool.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Pool {
  pool: pg.Pool
  db: Db
  /** Connections that are sessions of PostgreSQL: for notifications, session locks and migrations. `pool` unless there is a pooler. */
  direct: pg.Pool
}

/** A pooler in transaction mode. It may run each transaction on another session, so no state may outlast a transaction. */
export interface Pooler {
  /** Leads to PostgreSQL itself. */
  direct: string | pg.PoolConfig
  /** It prepares named statements on whichever session it uses. */
  preparesStatements: boolean
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

export type PoolName = 'requests' | 'background'

export interface DatabaseOptions {
  /** The sum of both pools. */
  maxConnections?: number
  limits?: DatabaseLimits
  /** As pg_stat_activity shows it. */
  applicationName?: string
  /** Absent: the connection leads to PostgreSQL itself. */
  pooler?: Pooler
  /** Is called with the time that a caller waited for a connection of a pool. */
  onWaited?: (pool: PoolName, seconds: number) => void
  tracer?: Tracer | null
}

const usualLimits: DatabaseLimits = { connectSeconds: 8, statementSeconds: 10 }
/** How much longer than PostgreSQL's own limit this side waits. */
export const silenceMs = 2000
const keepAliveMs = 10_000
/** A new connection prepares and plans every statement anew, so connections outlive the pauses between builds. */
const idleMs = 5 * 60_000
/** The share of the pool for background work. */
const slowShare = 0.4
/** Two for an api process, three for a worker, and the rest for short use. */
const directConnections = 8

export function openDatabase(connection: string | pg.PoolConfig, options: DatabaseOptions = {}): Database {
  const { maxConnections = 20, limits = usualLimits, applicationName = 'millrace' } = options
  const { pooler, onWaited = () => {}, tracer = null } = options
  const outage = new OutageWatch()
  const configOf = (target: string | pg.PoolConfig) => {
    const given: pg.PoolConfig = typeof target === 'string' ? { connectionString: target } : target
    return {
      ...given,
      ...passwordOf(given),
      types,
      pipeline: true,
      application_name: applicationName,
      connectionTimeoutMillis: limits.connectSeconds * 1000,
      query_timeout: limits.statementSeconds * 1000 + silenceMs,
      idleTimeoutMillis: idleMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveMs,
    }
  }
  const settings = { options: sessionSettings(limits) }
  const direct =
    pooler && openPool({ ...configOf(pooler.direct), ...settings, max: directConnections }, outage)
  const open = (name: PoolName, max: number): Pool => {
    const config = { ...configOf(connection), max }
    const pool = openPool(pooler ? config : { ...config, ...settings }, outage)
    if (pooler) pool.on('connect', useUtc)
    const mode: StatementMode = {
      namesStatements: pooler?.preparesStatements ?? true,
      afterBegin: pooler ? transactionSettings(limits) : '',
    }
    const dialect = pipelineDialect(pool, mode, {
      onResult(error) {
        outage.note(error)
        if (isMisled(error)) pool.renew()
      },
      onWaited: (seconds) => onWaited(name, seconds),
      tracer,
    })
    return { pool, db: new Kysely<Tables>({ dialect }), direct: direct ?? pool }
  }
  const slowConnections = Math.max(1, Math.floor(slowShare * maxConnections))
  const quick = open('requests', Math.max(1, maxConnections - slowConnections))
  const slow = open('background', slowConnections)
  const close = async () => {
    outage.reportTo(null)
    await Promise.all([quick.pool.end(), slow.pool.end(), direct?.end()])
  }
  return { ...quick, slow, outage, close }
}

function openPool(config: pg.PoolConfig, outage: OutageWatch): RenewingPool {
  const pool = new RenewingPool(config)
  // The pool closes a connection that fails while idle; the next statement opens another.
  pool.on('error', (error) => outage.note(error))
  // A connection that fails while in use fails its statement. Without a listener its error would end the process too.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
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
 * Poolers refuse most settings of a new connection. They all remember the time zone of each client, because PostgreSQL reports
 * its changes. The connection's first statement follows in the pipeline, and fails if this one does.
 */
const useUtc = (client: pg.ClientBase): void => {
  client.query(`set timezone = 'UTC'`).catch(() => {})
}

/** The limits that a pooler would forget. A statement outside of a transaction has only those of the pooler's own sessions. */
function transactionSettings({ statementSeconds }: DatabaseLimits): string {
  const milliseconds = statementSeconds * 1000
  return `; set local statement_timeout = ${milliseconds}; set local idle_in_transaction_session_timeout = ${milliseconds}`
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
  [pg.types.builtins.DATE]: String,
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
