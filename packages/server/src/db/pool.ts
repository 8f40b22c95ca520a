// The connection pool and Kysely on top of it.
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import pg from 'pg'
import { NamedQuery, type Callback, type Shapes } from './named-query.ts'
import type { Tables } from './tables.ts'

export type Db = Kysely<Tables>
export type Trx = Transaction<Tables>

export interface Database {
  pool: pg.Pool
  db: Db
  close(): Promise<void>
}

export function openDatabase(connection: string | pg.PoolConfig, maxConnections = 20): Database {
  const given = typeof connection === 'string' ? { connectionString: connection } : connection
  const pool = new pg.Pool({
    ...given,
    Client: namingClient(),
    types: { getTypeParser: (oid, format) => parsers[oid] ?? pg.types.getTypeParser(oid, format) },
    max: maxConnections,
    // A statement need not wait for the answer to the one before it; see together.ts.
    pipeline: true,
    application_name: 'millrace',
    options: '-c timezone=UTC -c statement_timeout=30000 -c idle_in_transaction_session_timeout=60000',
  })
  // A connection that dies while idle is dropped by the pool; the next query opens another.
  pool.on('error', () => {})
  // One that dies while in use fails its query; left unheard, its error would end the process too.
  pool.on('connect', (client) => client.on('error', () => {}))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  pools.set(db, pool)
  return { pool, db, close: () => db.destroy() }
}

const pools = new WeakMap<Db, pg.Pool>()

/** The pool a statement may be given to directly; a transaction has none, since its statements belong to one connection. */
export const poolOf = (db: Db): pg.Pool | undefined => pools.get(db)

/** A connection outside the pool, for COPY, which bears no other statement on its way beside it. */
export async function connectAlone(pool: pg.Pool): Promise<pg.Client> {
  const client = new pg.Client({ ...pool.options, pipeline: false })
  client.on('error', () => {})
  await client.connect()
  return client
}

const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.TIMESTAMPTZ]: toIso,
  [pg.types.builtins.INT8]: Number,
}

/** `2026-01-02 03:04:05.6+00` to `2026-01-02T03:04:05.600Z`. Sessions run in UTC, columns keep milliseconds. */
export function toIso(text: string): string {
  const fraction = text.length > 22 ? text.slice(20, -3) : ''
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${fraction.padEnd(3, '0')}Z`
}

// Named statements are planned once per connection. The texts come from this program, so there are few; the
// bound is a guard against a query built with a varying number of placeholders.
const statementNames = new Map<string, string>()
const mostStatements = 1000

function statementName(text: string): string | undefined {
  const known = statementNames.get(text)
  if (known !== undefined || statementNames.size >= mostStatements) return known
  const name = `s${statementNames.size}`
  statementNames.set(text, name)
  return name
}

/** Pools of different databases share the names, not what they stand for. */
function namingClient(): typeof pg.Client {
  const shapes: Shapes = new Map()
  return class NamingClient extends pg.Client {
    // The signature is pg's own set of overloads, which cannot be restated one by one.
    override query = ((...args: unknown[]) => {
      const [text, values, callback] = args
      const name = typeof text === 'string' && Array.isArray(values) ? statementName(text) : undefined
      if (name === undefined) return Reflect.apply(super.query, this, args)
      const send = (done: Callback) =>
        super.query(new NamedQuery(name, text as string, values as unknown[], shapes, done))
      return callback === undefined ? promised(send) : send(callback as Callback)
    }) as typeof pg.Client.prototype.query
  }
}

const promised = (send: (done: Callback) => void): Promise<pg.QueryResult> =>
  new Promise<pg.QueryResult>((resolve, reject) => {
    send((error, result) => (error ? reject(error) : resolve(result)))
  }).catch((error: Error) => {
    // Until here its stack leads to the socket; from here it leads to who asked.
    Error.captureStackTrace(error)
    throw error
  })
