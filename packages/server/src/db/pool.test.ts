import { sql } from 'kysely'
import type pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { startTcpProxy } from '../../../../testbed/src/tcp-proxy.ts'
import { eventually, useOwnApp } from '../../test/app.ts'
import { socketFile } from './embedded/socket-dir.ts'
import { openDatabase, type Database } from './pool.ts'

const app = useOwnApp()

const uses: Array<[string, (database: Database) => Promise<unknown>]> = [
  ['by the pool alone', ({ pool }) => pool.query('select 1')],
  ['by the query builder', ({ db }) => sql`select 1`.execute(db)],
  ['by nobody', async () => {}],
]

it.each(uses)('a database that was used %s has no connection left when it is closed', async (_, use) => {
  const database = openDatabase(app.database.pool.options)
  await use(database)
  await database.close()
  expect(database.pool.totalCount).toBe(0)
  await expect(database.pool.query('select 1')).rejects.toThrow(/after calling end/)
})

// graphile-worker may still try to listen again then.
it('a pool that has ended answers a callback with an error, and lets it release nothing', async () => {
  const { pool, close } = openDatabase(app.database.pool.options)
  await close()
  const answered = new Promise<unknown[]>((resolve) => {
    pool.connect((error, client, done) => {
      done()
      resolve([error?.message, client])
    })
  })
  expect(await answered).toEqual([expect.stringContaining('after calling end'), undefined])
})

/** Connections that are idle afterwards. */
async function openConnections(pool: pg.Pool, statement: string): Promise<void> {
  const clients = await Promise.all(Array.from({ length: 5 }, () => pool.connect()))
  for (const client of clients) await client.query(statement)
  for (const client of clients) client.release()
}

it('replaces all connections after one of them turned out to be read-only', async () => {
  const database = openDatabase(app.database.pool.options)
  onTestFinished(() => database.close())
  const write = () => sql`create table written ()`.execute(database.db)
  await openConnections(database.pool, 'set default_transaction_read_only = on')
  await expect(write()).rejects.toThrow('read-only')
  const isReadOnly = sql<{ value: string }>`select current_setting('default_transaction_read_only') as value`
  // Each on a connection of its own.
  const read = () => database.db.connection().execute((connection) => isReadOnly.execute(connection))
  const results = await Promise.all(Array.from({ length: 5 }, read))
  expect(results.map(({ rows }) => rows[0]?.value)).toEqual(['off', 'off', 'off', 'off', 'off'])
  await write()
})

it('does not use a standby, whose answers may be old', async () => {
  const database = openDatabase(app.database.pool.options)
  onTestFinished(() => database.close())
  const name = app.database.pool.options.database ?? ''
  const ask = () => sql`select 1`.execute(database.db)
  // Stands before the function of PostgreSQL itself, which says no here.
  await sql`create function public.pg_is_in_recovery() returns boolean language sql as 'select true'`.execute(
    app.db,
  )
  await sql`alter database ${sql.id(name)} set search_path = public, pg_catalog`.execute(app.db)
  await expect(ask()).rejects.toMatchObject({ code: '25006' })
  expect(database.outage.isAway).toBe(true)
  await sql`alter database ${sql.id(name)} reset search_path`.execute(app.db)
  await ask()
})

it('replaces all connections after one of them turned out to be dead', async () => {
  const { host = '', ...options } = app.database.pool.options
  const proxy = await startTcpProxy(() => socketFile(host))
  onTestFinished(() => proxy.close())
  const database = openDatabase(
    { ...options, password: app.database.pool.options.password, host: '127.0.0.1', port: proxy.port },
    { limits: { connectSeconds: 60, statementSeconds: 1 } },
  )
  onTestFinished(() => database.close())
  const ask = () => sql`select 1`.execute(database.db)
  const dead = new Set<pg.PoolClient>()
  const remember = (client: pg.PoolClient) => void dead.add(client)
  database.pool.on('connect', remember)
  await openConnections(database.pool, 'select 1')
  database.pool.off('connect', remember)
  proxy.silence()
  proxy.resume()
  await expect(ask()).rejects.toThrow('timeout')
  // The other four would not answer either. On a slow machine a new one may take longer than a statement may.
  const client = await eventually('a new connection', () => database.pool.connect().catch(() => undefined))
  expect([dead.size, dead.has(client), database.pool.totalCount]).toEqual([5, false, 1])
  client.release()
  await eventually('it answers', () =>
    ask().then(
      () => true,
      () => false,
    ),
  )
})
