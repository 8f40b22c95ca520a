import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { prepared, preparedByName, preparedStatement } from './prepared.ts'
import { batch } from './together.ts'

const app = useApp()

describe('a prepared statement', () => {
  const both = (first: string, second: number) => sql<{ text: string; sum: number }>`
    select ${first}::text || ${first}::text as text, ${second}::int + ${40}::int + ${second}::int as sum`

  it('takes an argument as often as it likes, in any order, beside values that stay', async () => {
    const ask = prepared(both)
    expect(await ask(app.db, 'a', 1)).toEqual([{ text: 'aa', sum: 42 }])
    expect(await ask(app.db, 'b', 2)).toEqual([{ text: 'bb', sum: 44 }])
  })

  it('takes arguments by their names, in any order', async () => {
    const ask = preparedByName(
      ({ word, times }: { word: string; times: number }) => sql<{ text: string }>`
      select repeat(${word}::text, ${times}::int) || ${word}::text as text`,
    )
    expect(await ask(app.db, { word: 'a', times: 2 })).toEqual([{ text: 'aaa' }])
    expect(await ask(app.db, { times: 1, word: 'b' })).toEqual([{ text: 'bb' }])
  })

  it('belongs to the transaction it is given', async () => {
    const backend = prepared((plus: number) => sql<{ pid: number }>`select pg_backend_pid() + ${plus} as pid`)
    await app.db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      expect(await backend(trx, 0)).toEqual(rows)
    })
  })

  it('is compiled once', async () => {
    let times = 0
    const ask = prepared((value: number) => {
      times++
      return sql<{ value: number }>`select ${value}::int as value`
    })
    expect(await Promise.all([1, 2, 3].map((value) => ask(app.db, value)))).toEqual([
      [{ value: 1 }],
      [{ value: 2 }],
      [{ value: 3 }],
    ])
    expect(times).toBe(1)
  })

  it('does not let its writer look at an argument', async () => {
    const peeking = prepared((name: string) => sql`select ${`%${name}%`}`)
    await expect(peeking(app.db, 'x')).rejects.toThrow(TypeError)
  })

  it('is sent in a batch with others', async () => {
    const statement = preparedStatement(both)
    const rows = await app.db
      .transaction()
      .execute((trx) => batch(trx, [statement('a', 1), statement('b', 2)]))
    expect(rows).toEqual([[{ text: 'aa', sum: 42 }], [{ text: 'bb', sum: 44 }]])
  })
})
