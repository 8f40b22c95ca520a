import { sql } from 'kysely'
import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { commitWith, defer, batch } from './batch.ts'
import { inTransaction, violatedUnique } from './transaction.ts'

const app = useApp()

beforeEach(async () => {
  await sql`drop table if exists driven`.execute(app.db)
  await sql`create table driven (n int constraint driven_key primary key)`.execute(app.db)
})

const add = (n: number) => sql`insert into driven values (${n})`
const all = async () => {
  const { rows } = await sql<{ n: number }>`select n from driven order by n`.execute(app.db)
  return rows.map(({ n }) => n)
}

describe('a transaction', () => {
  it('is kept when its work is done, and undone when its work fails', async () => {
    await inTransaction(app.db, (trx) => add(1).execute(trx))
    const work = inTransaction(app.db, async (trx) => {
      await add(2).execute(trx)
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow('changed my mind')
    expect(await all()).toEqual([1])
  })

  it('that sends nothing leaves its connection as it was', async () => {
    await inTransaction(app.db, async () => {})
    await expect(inTransaction(app.db, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await add(1).execute(app.db)
    expect(await all()).toEqual([1])
  })

  it('has the isolation that was asked for', async () => {
    const level = await app.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute((trx) =>
        sql`select current_setting('transaction_isolation') as level, current_setting('transaction_read_only') as read_only`.execute(
          trx,
        ),
      )
    expect(level.rows).toEqual([{ level: 'repeatable read', read_only: 'on' }])
  })

  it('says how many rows were written', async () => {
    const { numAffectedRows } = await sql`insert into driven values (1), (2)`.execute(app.db)
    expect(numAffectedRows).toBe(2n)
  })
})

describe('what is sent later', () => {
  it('is seen by whatever the transaction asks next', async () => {
    await inTransaction(app.db, async (trx) => {
      await defer(trx, [add(1), add(2)])
      const [first] = await batch(trx, [sql<{ n: number }>`select sum(n)::int as n from driven`, add(3)])
      expect(first).toEqual([{ n: 3 }])
    })
    expect(await all()).toEqual([1, 2, 3])
  })

  it('is kept with the commit, or undone with the rest', async () => {
    await inTransaction(app.db, (trx) => defer(trx, [add(1)]))
    const work = inTransaction(app.db, async (trx) => {
      await defer(trx, [add(2)])
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow('changed my mind')
    expect(await all()).toEqual([1])
  })

  it('fails with the commit, and takes everything with it', async () => {
    await add(1).execute(app.db)
    const work = inTransaction(app.db, async (trx) => {
      await add(2).execute(trx)
      await defer(trx, [add(1), add(3)])
    })
    const error = await work.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(pg.DatabaseError)
    expect(violatedUnique(error)).toBe('driven_key')
    expect(await all()).toEqual([1])
  })

  it('is sent again with the rest of a transaction that PostgreSQL broke off', async () => {
    let attempts = 0
    await inTransaction(app.db, async (trx) => {
      attempts += 1
      const failing = sql`do $$ begin raise exception using errcode = '40001'; end $$`
      await defer(trx, attempts === 1 ? [add(1), failing] : [add(1)])
    })
    expect({ attempts, kept: await all() }).toEqual({ attempts: 2, kept: [1] })
  })
})

describe('what is sent last', () => {
  it('is answered and kept, with what was to be sent later', async () => {
    const rows = await inTransaction(app.db, async (trx) => {
      await defer(trx, [add(1)])
      return commitWith(trx, [add(2), sql<{ n: number }>`select sum(n)::int as n from driven`])
    })
    expect(rows[1]).toEqual([{ n: 3 }])
    expect(await all()).toEqual([1, 2])
  })

  it('undoes everything when it fails', async () => {
    const work = inTransaction(app.db, async (trx) => {
      await add(1).execute(trx)
      await commitWith(trx, [add(2), add(1)])
    })
    await expect(work).rejects.toMatchObject({ code: '23505' })
    expect(await all()).toEqual([])
  })

  it('lets nothing follow', async () => {
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
