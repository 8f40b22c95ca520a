import { sql } from 'kysely'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { needing } from '../../../../testbed/src/needing.ts'
import {
  pgbouncerLacks,
  pgbouncerPrepares,
  startPgbouncer,
  type PgbouncerOptions,
} from '../../../../testbed/src/pgbouncer.ts'
import { eventually, useOwnApp } from '../../test/app.ts'
import { batch, commitWith, defer } from './batch.ts'
import { listen } from './listener.ts'
import { openDatabase, type Database, type Pooler } from './pool.ts'
import { inspectEndpoint, isSameDatabase } from './pooler.ts'
import { prepared } from './statement.ts'
import { inLongTransaction, inTransaction } from './transaction.ts'

const app = useOwnApp()

const nowhere: Pooler = { direct: 'postgres://127.0.0.1:1/nowhere', preparesStatements: false }

it('PostgreSQL itself is found to pool nothing', async () => {
  expect(await inspectEndpoint(app.database.pool)).toEqual({
    version: expect.any(Number),
    pools: 'nothing',
    preparesStatements: true,
  })
})

it('two pools of one database are found to be the same, and others not', async () => {
  const other = openDatabase({ ...inject('database'), database: 'postgres' }, { maxConnections: 2 })
  onTestFinished(other.close)
  expect(await isSameDatabase(app.database.pool, app.database.direct)).toBe(true)
  expect(await isSameDatabase(app.database.pool, other.direct)).toBe(false)
})

needing('pgbouncer', pgbouncerLacks).describe('PgBouncer', () => {
  it('is recognized by its mode, and by whether it keeps prepared statements', async () => {
    const inspect = async (options: PgbouncerOptions) => {
      const { pools, preparesStatements } = await inspectEndpoint((await openThrough(options, nowhere)).pool)
      return { pools, preparesStatements }
    }
    expect(await inspect({})).toEqual({ pools: 'transactions', preparesStatements: pgbouncerPrepares })
    expect(await inspect({ preparedStatements: 0 })).toEqual({
      pools: 'transactions',
      preparesStatements: false,
    })
    expect(await inspect({ mode: 'session' })).toEqual({ pools: 'sessions', preparesStatements: true })
  })

  it('that bypasses nothing leads to the same database as the direct connections', async () => {
    const { pool, direct } = await openThrough({}, toApp(false))
    expect(await isSameDatabase(pool, direct)).toBe(true)
  })

  describe.each([{ keeps: true }, { keeps: false }])(
    'that keeps prepared statements: $keeps',
    ({ keeps }) => {
      const preparesStatements = keeps && pgbouncerPrepares
      const open = () => openThrough({ preparedStatements: keeps ? 100 : 0 }, toApp(preparesStatements))

      it('runs the transactions, batches and statements of many callers on few sessions', async () => {
        const { db } = await open()
        await sql`create table tally (n int primary key, seen int not null)`.execute(db)
        onTestFinished(async () => void (await sql`drop table tally`.execute(app.db)))
        const add = prepared((n: number) => sql`insert into tally values (${n}, 0)`)
        const see = prepared(
          (n: number) =>
            sql<{ seen: number }>`update tally set seen = seen + 1 where n = ${n} returning seen`,
        )
        const caller = async (n: number) => {
          await add(n).execute(db)
          await inTransaction(db, async (trx) => {
            await defer(trx, [see(n)])
            expect((await see(n).execute(trx)).rows).toEqual([{ seen: 2 }])
            await commitWith(trx, [see(n)])
          })
          const [rows] = await batch(db, [see(n), see(n)])
          return rows[0]?.seen
        }
        const seen = await Promise.all(Array.from({ length: 60 }, (_, n) => caller(n)))
        expect(new Set(seen)).toEqual(new Set([4]))
      })

      it('refuses no setting, and times are in UTC on every session', async () => {
        await sql`alter database ${sql.id(databaseName())} set timezone to 'Asia/Tokyo'`.execute(app.db)
        onTestFinished(
          async () =>
            void (await sql`alter database ${sql.id(databaseName())} reset timezone`.execute(app.db)),
        )
        const { db } = await open()
        const time = prepared(() => sql<{ at: string }>`select timestamptz '2026-01-02 03:04:05+00' as at`)
        const times = await Promise.all(Array.from({ length: 30 }, () => time().execute(db)))
        for (const { rows } of times) expect(rows).toEqual([{ at: '2026-01-02T03:04:05.000Z' }])
      })

      it('limits the statements of each transaction, and of no later one', async () => {
        const { db } = await open()
        const limit = prepared(
          () => sql<{ limit: string }>`select current_setting('statement_timeout') as limit`,
        )
        const within = async (run: (work: (trx: typeof db) => Promise<string>) => Promise<string>) =>
          run(async (trx) => (await limit().execute(trx)).rows[0]?.limit ?? '')
        expect(await within((work) => inTransaction(db, work))).toBe('10s')
        expect(await within((work) => inLongTransaction(db, 600, work))).toBe('10min')
        expect(await within((work) => inTransaction(db, work))).toBe('10s')
        expect((await limit().execute(db)).rows).toEqual([{ limit: '0' }])
      })

      it('is bypassed by notifications', async () => {
        const { db, direct } = await open()
        const heard: string[] = []
        const listener = await listen(direct, {
          channels: { pooler_test: (payload) => void heard.push(payload) },
          onConnected() {},
          onError() {},
        })
        await Promise.all(
          Array.from({ length: 20 }, (_, n) => sql`select pg_notify('pooler_test', ${`${n}`})`.execute(db)),
        )
        await eventually('all are heard', async () => heard.length === 20)
        await listener.stop()
        expect(heard.toSorted((a, b) => Number(a) - Number(b))).toEqual(
          Array.from({ length: 20 }, (_, n) => `${n}`),
        )
      })
    },
  )
})

const databaseName = () => app.database.pool.options.database ?? ''

const toApp = (preparesStatements: boolean): Pooler => ({
  direct: { ...inject('database'), database: databaseName() },
  preparesStatements,
})

/** The database of the app behind PgBouncer, which has two sessions. */
async function openThrough(options: PgbouncerOptions, pooler: Pooler): Promise<Database> {
  const { user } = inject('database')
  const { port, stop } = await startPgbouncer(inject('database'), { poolSize: 2, ...options })
  onTestFinished(stop)
  const database = openDatabase({ host: '127.0.0.1', port, user, database: databaseName() }, { pooler })
  onTestFinished(database.close)
  return database
}
