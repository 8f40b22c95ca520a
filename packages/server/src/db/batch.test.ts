import { sql } from 'kysely'
import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { batch, commitWith, defer, deferUntilEnd } from './batch.ts'
import type { Db } from './pool.ts'
import { inSavepoint, inTransaction, violatedUnique } from './transaction.ts'

const app = useApp()

beforeEach(async () => {
  await sql`drop table if exists noted`.execute(app.db)
  await sql`create table noted (n int constraint noted_key primary key)`.execute(app.db)
})

const add = (n: number) => sql<{ n: number }>`insert into noted values (${n}::int) returning n`
const divide = (n: number) => sql<{ part: number }>`select 100 / ${n}::int as part`
const count = sql<{ noted: number }>`select count(*)::int as noted from noted`
const all = async () => {
  const { rows } = await sql<{ n: number }>`select n from noted order by n`.execute(app.db)
  return rows.map(({ n }) => n)
}

const series = (length: number) => sql`
  select g as number, 'row ' || g as text, g % 2 = 0 as even, null::int as nothing, array[g, g] as list,
    json_build_object('g', g) as object, to_timestamp(g) as time
  from generate_series(1, ${length}::int) g`

const rowsFrom1To = (length: number) =>
  Array.from({ length }, (_, index) => index + 1).map((number) => ({
    number,
    text: `row ${number}`,
    even: number % 2 === 0,
    nothing: null,
    list: [number, number],
    object: { g: number },
    time: new Date(number * 1000).toISOString(),
  }))

describe('a connection', () => {
  const onOne = <T>(use: (db: Db) => Promise<T>) => app.db.connection().execute(use)

  it('returns the same rows the first time, again, and beside other connections', async () => {
    const use = async (db: Db) => {
      for (const length of [2, 0, 3, 2])
        expect((await series(length).execute(db)).rows).toEqual(rowsFrom1To(length))
    }
    await Promise.all([onOne(use), onOne(use)])
  })

  it('keeps the rows of pipelined statements apart', () =>
    onOne(async (db) => {
      const other = sql<{ only: number }>`select ${2}::int as only`
      const statements = [series(2), other, series(2), other, other, series(2)]
      const results = await Promise.all(statements.map((statement) => statement.execute(db)))
      expect(results.map(({ rows }) => rows)).toEqual(
        statements.map((statement) => (statement === other ? [{ only: 2 }] : rowsFrom1To(2))),
      )
    }))

  it('works on after a statement that failed, first or later, whose error has the stack of its caller', () =>
    onOne(async (db) => {
      const outcomes = await Promise.allSettled([0, 5, 0, 2].map((divisor) => divide(divisor).execute(db)))
      expect(outcomes).toMatchObject([
        { reason: expect.any(pg.DatabaseError) },
        { value: { rows: [{ part: 20 }] } },
        { reason: expect.any(pg.DatabaseError) },
        { value: { rows: [{ part: 50 }] } },
      ])
      const error = await divide(0)
        .execute(db)
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: '22012', stack: expect.stringContaining('batch.test.ts') })
    }))

  it('reads rows that are longer than one read, and short ones between them', async () => {
    const lengths = [3, 200_000, 1, 65_536, 3_000_000, 64, 70_000]
    const statement = sql<{ n: number; long: string }>`
      select n, repeat(n::text || 'é', l) as long from unnest(${lengths}::int[]) with ordinality as a (l, n)`
    const results = await Promise.all(Array.from({ length: 4 }, () => statement.execute(app.db)))
    for (const { rows } of results) {
      expect(rows.map(({ n, long }) => long === `${n}é`.repeat(lengths[n - 1] ?? 0))).toEqual(
        lengths.map(() => true),
      )
    }
  })

  it('reads rows of many columns, null or not', async () => {
    const numbers = Array.from({ length: 120 }, (_, index) => index)
    const columns = numbers.map((n) => `case when g <> ${n} then g + ${n} end as c${n}`).join(', ')
    const { rows } = await sql`select ${sql.raw(columns)} from generate_series(0, 2) g`.execute(app.db)
    expect(rows).toEqual(
      [0, 1, 2].map((g) => Object.fromEntries(numbers.map((n) => [`c${n}`, g === n ? null : g + n]))),
    )
  })
})

describe('a batch', () => {
  it('runs in order, each statement seeing the changes of those before it', async () => {
    for (const first of [1, 11])
      expect(await batch(app.db, [count, add(first), count, add(first + 1), count])).toEqual([
        [{ noted: first === 1 ? 0 : 2 }],
        [{ n: first }],
        [{ noted: first === 1 ? 1 : 3 }],
        [{ n: first + 1 }],
        [{ noted: first === 1 ? 2 : 4 }],
      ])
  })

  it('fails whole when one statement does, and can be sent again', async () => {
    const other = sql<{ next: number }>`select ${1}::int + 1 as next`
    for (let time = 1; time <= 2; time += 1) {
      await expect(batch(app.db, [add(1), divide(0), other])).rejects.toMatchObject({ code: '22012' })
      expect(await batch(app.db, [other, add(1), divide(4)])).toEqual([
        [{ next: 2 }],
        [{ n: 1 }],
        [{ part: 25 }],
      ])
      await sql`delete from noted`.execute(app.db)
    }
  })

  it('sends nothing when a value cannot be serialized', async () => {
    const circular: { self?: object } = {}
    circular.self = circular
    for (const value of [circular, [circular]])
      await expect(batch(app.db, [add(1), sql`select ${value}::jsonb`])).rejects.toThrow(/circular/)
    expect(await all()).toEqual([])
  })
})

describe('deferred statements', () => {
  it('are sent before the next statement', async () => {
    await inTransaction(app.db, async (trx) => {
      await defer(trx, [add(1), add(2)])
      const [first] = await batch(trx, [sql<{ n: number }>`select sum(n)::int as n from noted`, add(3)])
      expect(first).toEqual([{ n: 3 }])
    })
    expect(await all()).toEqual([1, 2, 3])
  })

  it('are committed, or rolled back, with the rest', async () => {
    await inTransaction(app.db, (trx) => defer(trx, [add(1)]))
    const work = inTransaction(app.db, async (trx) => {
      await defer(trx, [add(2)])
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow('changed my mind')
    expect(await all()).toEqual([1])
  })

  it('fail with the commit, and roll back everything', async () => {
    await add(1).execute(app.db)
    const work = inTransaction(app.db, async (trx) => {
      await add(2).execute(trx)
      await defer(trx, [add(1), add(3)])
    })
    const error = await work.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(pg.DatabaseError)
    expect(violatedUnique(error)).toBe('noted_key')
    expect(await all()).toEqual([1])
  })

  it('are sent again when the transaction is retried', async () => {
    let attempts = 0
    await inTransaction(app.db, async (trx) => {
      attempts += 1
      const failing = sql`do $$ begin raise exception using errcode = '40001'; end $$`
      await defer(trx, attempts === 1 ? [add(1), failing] : [add(1)])
    })
    expect({ attempts, kept: await all() }).toEqual({ attempts: 2, kept: [1] })
  })
})

describe('a statement that is read at the end', () => {
  const ends: unknown[] = []
  const note = (rows: unknown[] | null) => ends.push(rows)

  beforeEach(() => void ends.splice(0))

  it('gives its rows after the commit', async () => {
    await inTransaction(app.db, async (trx) => {
      await deferUntilEnd(trx, add(1), note)
      await count.execute(trx)
      expect(ends).toEqual([])
    })
    expect(ends).toEqual([[{ n: 1 }]])
  })

  it('gives null once after a rollback, also of a savepoint, and after a commit that failed', async () => {
    const rolledBack = inTransaction(app.db, async (trx) => {
      await deferUntilEnd(trx, add(1), note)
      await count.execute(trx)
      throw new Error('rolled back')
    })
    await expect(rolledBack).rejects.toThrow('rolled back')
    const failed = inTransaction(app.db, (trx) => deferUntilEnd(trx, divide(0), note))
    await expect(failed).rejects.toMatchObject({ code: '22012' })
    await inTransaction(app.db, (trx) =>
      inSavepoint(
        trx,
        () => deferUntilEnd(trx, add(2), note),
        () => false,
      ),
    )
    expect(ends).toEqual([null, null, null])
    expect(await all()).toEqual([])
  })
})

describe('statements sent with the commit', () => {
  it('return their rows, after the deferred statements', async () => {
    const rows = await inTransaction(app.db, async (trx) => {
      await defer(trx, [add(1)])
      return commitWith(trx, [add(2), sql<{ n: number }>`select sum(n)::int as n from noted`])
    })
    expect(rows[1]).toEqual([{ n: 3 }])
    expect(await all()).toEqual([1, 2])
  })

  it('roll back everything if one fails', async () => {
    const work = inTransaction(app.db, async (trx) => {
      await add(1).execute(trx)
      await commitWith(trx, [add(2), add(1)])
    })
    await expect(work).rejects.toMatchObject({ code: '23505' })
    expect(await all()).toEqual([])
  })

  it('are the last of the transaction', async () => {
    const work = inTransaction(app.db, async (trx) => {
      await commitWith(trx, [add(1)])
      await add(2).execute(trx)
    })
    await expect(work).rejects.toThrow('The transaction has been committed already.')
    expect(await all()).toEqual([1])
    await inTransaction(app.db, (trx) => add(3).execute(trx))
    expect(await all()).toEqual([1, 3])
  })
})
