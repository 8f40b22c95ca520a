import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { openDatabase, passwordOf, type Trx } from '../../db/pool.ts'
import { oldestOpen } from '../../events/oldest-open.ts'
import { newId } from '../../lib/ids.ts'
import { hasUnread, takeEvents } from './cursor.ts'

const app = useOwnApp()
const org = newId()
const all = sql<boolean>`true`

const append = (trx: Trx, kind: string) =>
  sql`insert into events (organization_id, kind, created_at) values (${org}, ${kind}, now())`.execute(trx)

/** Takes all events, `most` at a time, and returns their kinds in order. */
async function readAll(most = 100): Promise<string[]> {
  const kinds: string[] = []
  for (;;) {
    const taken = await app.db.transaction().execute((trx) => takeEvents(trx, most, all))
    if (taken === null || taken.read === 0) return kinds
    kinds.push(...taken.events.map(({ kind }) => kind))
  }
}

/**
 * Until so many have come: a transaction of the server itself, such as one that gathers statistics, may be open for a
 * moment.
 */
async function readSome(count: number, most?: number): Promise<string[]> {
  const kinds: string[] = []
  return eventually(`${count} events`, async () => {
    kinds.push(...(await readAll(most)))
    return kinds.length >= count && kinds
  })
}

/** A transaction that a test opens and ends by hand. */
async function aTransaction(begin: (trx: Trx) => Promise<unknown>) {
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  let go: (trx: Trx) => void = () => {}
  const begun = new Promise<Trx>((resolve) => {
    go = resolve
  })
  const done = app.db.transaction().execute(async (trx) => {
    await begin(trx)
    go(trx)
    await ended
  })
  const trx = await begun
  return {
    trx,
    commit: () => {
      end()
      return done
    },
  }
}

describe('the cursor of the outbox', () => {
  beforeEach(() =>
    eventually('nothing of the test before is left', async () => {
      await readAll()
      return !(await hasUnread(app.db, new Date()))
    }),
  )

  it('reads each event once, in the order of their ids, however few at a time', async () => {
    for (const kind of ['a', 'b', 'c', 'd', 'e'])
      await app.db.transaction().execute((trx) => append(trx, kind))
    expect(await hasUnread(app.db, new Date())).toBe(true)
    expect(await readSome(5, 2)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await readAll(2)).toEqual([])
    expect(await hasUnread(app.db, new Date())).toBe(false)
  })

  it('passes the events that nobody wants', async () => {
    for (const kind of ['a', 'b', 'c', 'b']) await app.db.transaction().execute((trx) => append(trx, kind))
    const wanted: string[] = []
    let read = 0
    await eventually('four events', async () => {
      const taken = await app.db.transaction().execute((trx) => takeEvents(trx, 3, sql`e.kind = 'b'`))
      read += taken?.read ?? 0
      wanted.push(...(taken?.events.map(({ kind }) => kind) ?? []))
      return read === 4
    })
    expect(wanted).toEqual(['b', 'b'])
    expect(await hasUnread(app.db, new Date())).toBe(false)
  })

  it('does not skip a transaction that took its id early and commits late', async () => {
    const slow = await aTransaction((trx) => append(trx, 'slow'))
    await app.db.transaction().execute((trx) => append(trx, 'fast'))
    expect(await readAll()).toEqual([])
    await slow.commit()
    expect(await readSome(2)).toEqual(['slow', 'fast'])
  })

  it('keeps the order in which they were written, also when the older transaction wrote last', async () => {
    // It has a transaction number but has written nothing, like one that waits for a lock.
    const older = await aTransaction((trx) => sql`select pg_current_xact_id()`.execute(trx))
    await app.db.transaction().execute((trx) => append(trx, 'first'))
    await append(older.trx, 'second')
    expect(await readAll(1)).toEqual([])
    await older.commit()
    expect(await readSome(2, 1)).toEqual(['first', 'second'])
  })

  it('does not wait for a transaction of another database of the same server', async () => {
    const elsewhere = openDatabase(
      { ...app.database.pool.options, ...passwordOf(app.database.pool.options), database: 'postgres' },
      { maxConnections: 1 },
    )
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const begun = new Promise<void>((resolve, reject) => {
      elsewhere.db
        .transaction()
        .execute(async (trx) => {
          await sql`select pg_current_xact_id()`.execute(trx)
          resolve()
          await ended
        })
        .catch(reject)
    })
    await begun
    await app.db.transaction().execute((trx) => append(trx, 'ours'))
    expect(await readSome(1)).toEqual(['ours'])
    end()
    await elsewhere.close()
  })

  it('does not wait for other databases either when the role may not see them', async () => {
    const role = `plain_${newId().replaceAll('-', '')}`
    const elsewhere = openDatabase(
      { ...app.database.pool.options, ...passwordOf(app.database.pool.options), database: 'postgres' },
      { maxConnections: 1 },
    )
    await sql`create role ${sql.id(role)}`.execute(app.db)
    const { rows } = await elsewhere.db.transaction().execute(async (theirs) => {
      await sql`select pg_current_xact_id()`.execute(theirs)
      // A younger one has ended, so that theirs is among those that a look finds open.
      await sql`select pg_current_xact_id()`.execute(app.db)
      return app.db.transaction().execute(async (trx) => {
        await sql`set local role ${sql.id(role)}`.execute(trx)
        return sql<{ is_past: boolean }>`
          select ${oldestOpen} > pg_snapshot_xmin(pg_current_snapshot())::text::bigint as is_past`.execute(
          trx,
        )
      })
    })
    expect(rows).toEqual([{ is_past: true }])
    await sql`drop role ${sql.id(role)}`.execute(app.db)
    await elsewhere.close()
  })

  it('loses no event that a reader took without committing', async () => {
    await app.db.transaction().execute((trx) => append(trx, 'a'))
    await eventually('a reader took it and died', () =>
      app.db
        .transaction()
        .execute(async (trx) => {
          const taken = await takeEvents(trx, 10, all)
          if (taken?.events.length === 1) throw new Error('killed')
          return false
        })
        .catch((error: unknown) => error instanceof Error && error.message === 'killed'),
    )
    expect(await readSome(1)).toEqual(['a'])
  })

  it('lets one worker read at a time, and the others go on', async () => {
    await app.db.transaction().execute((trx) => append(trx, 'a'))
    const reader = await aTransaction((trx) => takeEvents(trx, 10, all))
    expect(await app.db.transaction().execute((trx) => takeEvents(trx, 10, all))).toBeNull()
    await reader.commit()
  })
})
