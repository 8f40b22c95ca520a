import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { named, type BatchClient } from './client.ts'

const app = useApp()

const text = `
  select g as number, 'row ' || g as text, g % 2 = 0 as even, null::int as nothing, array[g, g] as list,
    json_build_object('g', g) as object, to_timestamp(g) as time
  from generate_series(1, $1::int) g`

const rowsFrom1To = (count: number) =>
  Array.from({ length: count }, (_, index) => index + 1).map((number) => ({
    number,
    text: `row ${number}`,
    even: number % 2 === 0,
    nothing: null,
    list: [number, number],
    object: { g: number },
    time: new Date(number * 1000).toISOString(),
  }))

it('gives the same rows the first time, again, and on other connections', async () => {
  const clients = await Promise.all([app.database.pool.connect(), app.database.pool.connect()])
  for (const client of [...clients, ...clients]) {
    for (const count of [2, 0, 3]) {
      const { rows, rowCount, fields } = await client.query(text, [count])
      expect(rows).toEqual(rowsFrom1To(count))
      expect(rowCount).toBe(count)
      expect(fields.map(({ name }) => name)).toContain('nothing')
    }
  }
  for (const client of clients) client.release()
})

it('keeps the rows of statements apart that are on their way at once', async () => {
  const other = 'select $1::int as only'
  const client = await app.database.pool.connect()
  const results = await Promise.all(
    [text, other, text, other, other, text].map((statement) => client.query(statement, [2])),
  )
  client.release()
  expect(results.map(({ rows }) => rows)).toEqual(
    [text, other, text, other, other, text].map((statement) =>
      statement === other ? [{ only: 2 }] : rowsFrom1To(2),
    ),
  )
})

it('goes on after a statement that failed, first or later, and tells who asked', async () => {
  const divide = 'select 10 / $1::int as quotient'
  const client = await app.database.pool.connect()
  const outcomes = await Promise.allSettled([0, 5, 0, 2].map((divisor) => client.query(divide, [divisor])))
  expect(outcomes).toMatchObject([
    { reason: expect.any(pg.DatabaseError) },
    { value: { rows: [{ quotient: 2 }] } },
    { reason: expect.any(pg.DatabaseError) },
    { value: { rows: [{ quotient: 5 }] } },
  ])
  const error = await client.query(divide, [0]).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: '22012', stack: expect.stringContaining('batch-query.test.ts') })
  client.release()
})

it('writes without rows as often as it likes', async () => {
  const client = await app.database.pool.connect()
  await client.query('create temporary table written (n int)')
  for (const n of [1, 2, 3]) {
    const { rowCount, rows } = await client.query('insert into written values ($1)', [n])
    expect({ rowCount, rows }).toEqual({ rowCount: 1, rows: [] })
  }
  await client.query('drop table written')
  client.release()
})

describe('statements sent at once', () => {
  const add = (n: number) => named('insert into noted values ($1::int) returning n', [n])
  const halve = (n: number) => named('select 100 / $1::int as part', [n])
  const rowsOf = (results: pg.QueryResult[]) => results.map(({ rows }) => rows)

  async function withTable(use: (client: BatchClient) => Promise<void>): Promise<void> {
    const client = (await app.database.pool.connect()) as BatchClient
    await client.query('create temporary table noted (n int primary key)')
    await use(client)
    await client.query('drop table noted')
    client.release()
  }

  it('answer in their order, each seeing what those before it did', () =>
    withTable(async (client) => {
      const count = named('select count(*)::int as noted from noted', [])
      for (const first of [1, 11])
        expect(rowsOf(await client.send([count, add(first), count, add(first + 1), count]))).toEqual([
          [{ noted: first === 1 ? 0 : 2 }],
          [{ n: first }],
          [{ noted: first === 1 ? 1 : 3 }],
          [{ n: first + 1 }],
          [{ noted: first === 1 ? 2 : 4 }],
        ])
    }))

  it('all fail when one does, and can be sent again', () =>
    withTable(async (client) => {
      const other = named('select $1::int + 1 as next', [1])
      for (let time = 1; time <= 2; time += 1) {
        await expect(client.send([add(1), halve(0), other])).rejects.toMatchObject({ code: '22012' })
        // What stood before it is undone; what stood behind it was never read by the database.
        expect(rowsOf(await client.send([other, add(1), halve(4)]))).toEqual([
          [{ next: 2 }],
          [{ n: 1 }],
          [{ part: 25 }],
        ])
        await client.query('delete from noted', [])
      }
    }))

  it('fail before anything is sent when a value cannot be written', () =>
    withTable(async (client) => {
      const circular: { self?: object } = {}
      circular.self = circular
      await expect(client.send([add(1), named('select $1::jsonb', [circular])])).rejects.toThrow(/circular/)
      expect(rowsOf(await client.send([named('select n from noted', [])]))).toEqual([[]])
    }))
})
