// Finds out what a database address leads to: PostgreSQL itself, or a pooler such as PgBouncer.
import { randomBytes } from 'node:crypto'
import type pg from 'pg'

export interface Endpoint {
  /** The major version of PostgreSQL. */
  version: number
  /** `sessions`: a pooler that gives each client a session of its own, so that it can be used like PostgreSQL. */
  pools: 'nothing' | 'sessions' | 'transactions'
  /** A named statement can be used after the transaction that prepared it. */
  preparesStatements: boolean
}

/** Uses two connections of the pool. */
export async function inspectEndpoint(pool: pg.Pool): Promise<Endpoint> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query<{ version: number; pid: number; hasName: boolean }>(inspection())
    const { version = 0, pid = 0, hasName = false } = rows[0] ?? {}
    // A pooler invents the process id that it announces to its client.
    if (Reflect.get(client, 'processID') === pid)
      return { version, pools: 'nothing', preparesStatements: true }
    // It replaces the name by one of its own, which is the same on all sessions.
    if (!hasName) return { version, pools: 'transactions', preparesStatements: true }
    const pools = (await sharesSessions(pool, client)) ? 'transactions' : 'sessions'
    return { version, pools, preparesStatements: pools === 'sessions' }
  } finally {
    client.release()
  }
}

/** The name is new, because a pooler that does not know of names would keep it on a session of everybody. */
function inspection(): pg.QueryConfig {
  const name = `probe_${randomBytes(8).toString('hex')}`
  return {
    name,
    text: `select current_setting('server_version_num')::int / 10000 as version, pg_backend_pid() as pid,
      exists (select from pg_prepared_statements where name = '${name}') as "hasName"`,
  }
}

/** Others may use the sessions in between, so one look may miss it. */
const looks = 10

/** Whether the first client gets several sessions, or another client gets its session while the first one is connected. */
async function sharesSessions(pool: pg.Pool, first: pg.PoolClient): Promise<boolean> {
  const second = await pool.connect()
  try {
    const own = await pidOf(first)
    for (let look = 0; look < looks; look++) {
      if ((await pidOf(second)) === own || (await pidOf(first)) !== own) return true
    }
    return false
  } finally {
    second.release()
  }
}

async function pidOf(client: pg.PoolClient): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]?.pid
}

/** Whether both pools lead to the same database of the same PostgreSQL. `direct` must lead to sessions. */
export async function isSameDatabase(pool: pg.Pool, direct: pg.Pool): Promise<boolean> {
  const key = randomBytes(8).readBigInt64BE().toString()
  const client = await direct.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [key])
    const { rows } = await pool.query<{ isFree: boolean }>(
      'select pg_try_advisory_xact_lock($1) as "isFree"',
      [key],
    )
    return rows[0]?.isFree === false
  } finally {
    // Ends the session and its lock.
    client.release(true)
  }
}
