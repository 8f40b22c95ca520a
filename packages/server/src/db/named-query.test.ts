import pg from 'pg'
import { expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'

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
  expect(error).toMatchObject({ code: '22012', stack: expect.stringContaining('named-query.test.ts') })
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
