import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import type pg from 'pg'
import { useApp } from '../../test/app.ts'
import { eventually } from '../../test/eventually.ts'
import { openDatabase, type Database } from './pool.ts'
import { lookup } from './prepared.ts'
import { SharedConnections } from './shared-connections.ts'

const app = useApp()

function aDatabase(maxConnections = 20): Database {
  const database = openDatabase(app.database.pool.options, { maxConnections })
  onTestFinished(() => database.close())
  return database
}

async function share(most: number): Promise<{ shared: SharedConnections; pool: pg.Pool }> {
  const { pool } = aDatabase()
  const shared = new SharedConnections(pool, most)
  onTestFinished(() => shared.close())
  await eventually('one is shared', async () => {
    await shared.query('select', [])
    return shared.count === 1
  })
  return { shared, pool }
}

const waitForLock = 'select pg_advisory_xact_lock(7)'

/** Whoever waits for the lock has it when the returned function is called. */
async function hold(): Promise<() => Promise<void>> {
  const client = await app.database.pool.connect()
  await client.query('select pg_advisory_lock(7)')
  return async () => {
    await client.query('select pg_advisory_unlock(7)')
    client.release()
  }
}

const backend = 'select pg_backend_pid() as pid, $1::int as n'
const asked = Array.from({ length: 100 }, (_, index) => index)

describe('connections that many share', () => {
  it('answer each caller what it asked, over as many connections as there may be', async () => {
    const { shared, pool } = await share(2)
    for (let time = 0; time < 5; time++) {
      const answers = await Promise.all(asked.map((n) => shared.query(backend, [n])))
      expect(answers.map(({ rows }) => rows[0]?.n)).toEqual(asked)
    }
    expect(shared.count).toBe(2)
    const answers = await Promise.all(asked.map((n) => shared.query(backend, [n])))
    expect(new Set(answers.map(({ rows }) => rows[0]?.pid)).size).toBe(2)
    expect(pool.waitingCount).toBe(0)
  })

  it('tell of a failure only whoever failed', async () => {
    const { shared } = await share(1)
    const outcomes = await Promise.allSettled(
      [5, 0, 2].map((n) => shared.query('select 10 / $1::int as n', [n])),
    )
    expect(outcomes).toMatchObject([
      { value: { rows: [{ n: 2 }] } },
      { reason: { message: 'division by zero' } },
      { value: { rows: [{ n: 5 }] } },
    ])
  })

  it('let nobody wait behind what takes long', async () => {
    const { shared } = await share(1)
    const release = await hold()
    const long = shared.query(waitForLock, [])
    await eventually('it is known to take long', async () => shared.stalled === 1)
    expect((await shared.query(backend, [1])).rows[0]?.n).toBe(1)
    await release()
    await long
    expect(shared.stalled).toBe(0)
  })

  it('have only a few statements on their way, so that the others are soon elsewhere when one takes long', async () => {
    const { shared } = await share(1)
    const release = await hold()
    const order: string[] = []
    const ask = (text: string, name: string) => shared.query(text, []).then(() => order.push(name))
    const long = [ask(waitForLock, 'long'), ...Array.from({ length: 3 }, () => ask('select 1', 'behind it'))]
    await Promise.all(Array.from({ length: 6 }, () => ask('select 1', 'elsewhere')))
    await release()
    await Promise.all(long)
    expect(order.slice(6)).toEqual(['long', 'behind it', 'behind it', 'behind it'])
  })

  it('are replaced when they break, and whoever waited is told', async () => {
    const { shared, pool } = await share(1)
    const release = await hold()
    const [found] = (await shared.query(backend, [0])).rows
    // Either may be told first.
    await Promise.all([
      expect(shared.query(waitForLock, [])).rejects.toThrow(/terminat/),
      pool.query('select pg_terminate_backend($1)', [found?.pid]),
    ])
    await release()
    await eventually('it is gone', async () => shared.count === 0)
    expect((await shared.query(backend, [7])).rows[0]?.n).toBe(7)
    await eventually('another is shared', async () => shared.count === 1)
    expect((await shared.query(backend, [8])).rows[0]?.n).toBe(8)
  })

  it('fail only what was on its way when they break', async () => {
    const { shared, pool } = await share(1)
    const release = await hold()
    const [found] = (await shared.query(backend, [0])).rows
    const onTheirWay = Promise.allSettled(
      [waitForLock, backend, backend, backend].map((text) => shared.query(text, text === backend ? [1] : [])),
    )
    const waiting = asked.map((n) => shared.query(backend, [n]))
    await pool.query('select pg_terminate_backend($1)', [found?.pid])
    for (const outcome of await onTheirWay) expect(outcome.status).toBe('rejected')
    expect((await Promise.all(waiting)).map(({ rows }) => rows[0]?.n)).toEqual(asked)
    await release()
  })

  it('answer what is on its way before they close', async () => {
    const { shared } = await share(1)
    const release = await hold()
    const last = shared.query(waitForLock, [])
    const closed = shared.close().then(() => shared.count)
    await release()
    expect((await last).rowCount).toBe(1)
    expect(await closed).toBe(0)
  })

  it('are none where a database may have few connections', async () => {
    const { db, pool } = aDatabase(1)
    const ask = lookup((n: number) => sql<{ n: number }>`select ${n}::int as n`)
    expect(await Promise.all(asked.map((n) => ask(db, n)))).toEqual(asked.map((n) => [{ n }]))
    expect(pool.totalCount).toBe(1)
  })
})

it('a lookup that fails tells who asked', async () => {
  const divide = lookup((n: number) => sql`select 1 / ${n}::int`)
  await expect(divide(app.db, 0)).rejects.toMatchObject({
    message: 'division by zero',
    stack: expect.stringContaining('shared-connections.test.ts'),
  })
})

it('a lookup belongs to the transaction it is given', async () => {
  const ask = lookup((plus: number) => sql<{ pid: number }>`select pg_backend_pid() + ${plus} as pid`)
  await app.db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    expect(await ask(trx, 0)).toEqual(rows)
  })
})
