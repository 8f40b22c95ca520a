import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { batch } from './batch.ts'
import { prepared } from './statement.ts'

const app = useApp()

describe('a prepared statement', () => {
  const both = (first: string, second: number) => sql<{ text: string; sum: number }>`
    select ${first}::text || ${first}::text as text, ${second}::int + ${40}::int + ${second}::int as sum`

  it('takes an argument any number of times, in any order, beside constants', async () => {
    const statement = prepared(both)
    const rowsOf = async (...args: Parameters<typeof both>) => (await statement(...args).execute(app.db)).rows
    expect(await rowsOf('a', 1)).toEqual([{ text: 'aa', sum: 42 }])
    expect(await rowsOf('b', 2)).toEqual([{ text: 'bb', sum: 44 }])
  })

  it('belongs to the transaction it is given', async () => {
    const backend = prepared((plus: number) => sql<{ pid: number }>`select pg_backend_pid() + ${plus} as pid`)
    await app.db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      expect((await backend(0).execute(trx)).rows).toEqual(rows)
    })
  })

  it('is compiled once', async () => {
    let times = 0
    const statement = prepared((value: number) => {
      times++
      return sql<{ value: number }>`select ${value}::int as value`
    })
    const results = await Promise.all([1, 2, 3].map((value) => statement(value).execute(app.db)))
    expect(results.map(({ rows }) => rows)).toEqual([[{ value: 1 }], [{ value: 2 }], [{ value: 3 }]])
    expect(times).toBe(1)
  })

  it('refuses a template that reads an argument', async () => {
    const peeking = prepared((name: string) => sql`select ${`%${name}%`}`)
    await expect(peeking('x').execute(app.db)).rejects.toThrow(TypeError)
  })

  it('is sent in a batch with others', async () => {
    const statement = prepared(both)
    const rows = await app.db
      .transaction()
      .execute((trx) => batch(trx, [statement('a', 1), statement('b', 2)]))
    expect(rows).toEqual([[{ text: 'aa', sum: 42 }], [{ text: 'bb', sum: 44 }]])
  })
})
