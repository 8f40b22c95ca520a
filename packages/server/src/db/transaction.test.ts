import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { useApp } from '../../test/app.ts'
import { defer, onCommit } from './batch.ts'
import type { Trx } from './pool.ts'
import { inSavepoint, inTransaction } from './transaction.ts'

const app = useApp()

beforeEach(async () => {
  await sql`drop table if exists noted`.execute(app.db)
  await sql`create table noted (n int constraint noted_key primary key)`.execute(app.db)
})

const add = (n: number) => sql`insert into noted values (${n})`
const all = async () => {
  const { rows } = await sql<{ n: number }>`select n from noted order by n`.execute(app.db)
  return rows.map(({ n }) => n)
}

describe('a transaction', () => {
  it('commits when its work is done, and rolls back when its work fails', async () => {
    await inTransaction(app.db, (trx) => add(1).execute(trx))
    const work = inTransaction(app.db, async (trx) => {
      await add(2).execute(trx)
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow('changed my mind')
    expect(await all()).toEqual([1])
  })

  it('does what waits for its commit once, after the commit, and never after a rollback', async () => {
    const seen: unknown[] = []
    const addAndNote = async (n: number, failure: Error | null) =>
      inTransaction(app.db, async (trx) => {
        await add(n).execute(trx)
        await onCommit(trx, () => seen.push(n))
        expect(seen).not.toContain(n)
        if (failure !== null) throw failure
      })
    await addAndNote(1, null)
    await expect(addAndNote(2, new Error('changed my mind'))).rejects.toThrow('changed my mind')
    await expect(addAndNote(1, null)).rejects.toThrow('noted_key')
    await addAndNote(3, null)
    expect(seen).toEqual([1, 3])
  })

  it('keeps nothing of a savepoint that is undone: no statement, no deferred one, and no work after the commit', async () => {
    const seen: string[] = []
    const change = async (trx: Trx, n: number, name: string) => {
      await add(n).execute(trx)
      await onCommit(trx, () => seen.push(name))
      await defer(trx, [add(n + 1)])
    }
    const results = await inTransaction(app.db, async (trx) => {
      await change(trx, 1, 'before')
      const failed = await inSavepoint(trx, async () => {
        await change(trx, 10, 'failed')
        throw new Error('changed my mind')
      }).catch((error: unknown) => String(error))
      const deferred = await inSavepoint(trx, () => change(trx, 1, 'twice')).catch((error: unknown) =>
        String(error),
      )
      const unwanted = await inSavepoint(
        trx,
        async () => {
          await change(trx, 20, 'unwanted')
          await inSavepoint(trx, () => change(trx, 22, 'inner'))
          return 'unwanted'
        },
        (result) => result !== 'unwanted',
      )
      await inSavepoint(trx, () => change(trx, 30, 'kept'))
      return [failed, deferred, unwanted]
    })
    expect(results).toEqual(['Error: changed my mind', expect.stringContaining('noted_key'), 'unwanted'])
    expect(await all()).toEqual([1, 2, 30, 31])
    expect(seen).toEqual(['before', 'kept'])
  })

  it('has a savepoint for whatever may be rolled back alone', () => {
    // `rollback to savepoint` as a statement would leave work after the commit and deferred statements behind.
    const own = fileURLToPath(new URL('driver.ts', import.meta.url))
    const root = fileURLToPath(new URL('..', import.meta.url))
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
      .map((name) => join(root, name))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== own)
    expect(files.filter((file) => /`\s*(rollback to )?savepoint /i.test(readFileSync(file, 'utf8')))).toEqual(
      [],
    )
  })

  it('that sends nothing leaves its connection unchanged', async () => {
    await inTransaction(app.db, async () => {})
    await expect(inTransaction(app.db, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await add(1).execute(app.db)
    expect(await all()).toEqual([1])
  })

  it('has the requested isolation level', async () => {
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

  it('reports how many rows were written', async () => {
    const { numAffectedRows } = await sql`insert into noted values (1), (2)`.execute(app.db)
    expect(numAffectedRows).toBe(2n)
  })

  it('reports the error that aborted it, even if its work ignores that error', async () => {
    const work = inTransaction(app.db, async (trx) => {
      await add(1).execute(trx)
      await add(1)
        .execute(trx)
        .catch(() => {})
    })
    await expect(work).rejects.toMatchObject({ code: '23505' })
    expect(await all()).toEqual([])
  })
})
