// A long backlog: a page of the relay must read the same number of rows however many events wait.
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { eventually, useOwnApp } from '../../../test/app.ts'
import { newId } from '../../lib/ids.ts'
import { takeEvents } from './cursor.ts'

const app = useOwnApp()
const org = newId()
const most = 100

const append = (count: number) => sql`
  insert into events (organization_id, kind, created_at)
  select ${org}, 'n' || n, now() from generate_series(1, ${count}::integer) n`

/** Many transactions, as a server writes them. */
async function appendMany(transactions: number, each: number): Promise<void> {
  for (let n = 0; n < transactions; n++) await append(each).execute(app.db)
}

/** Rows of the outbox that one page reads, by the counters of PostgreSQL in the same transaction. */
async function rowsOfPage(): Promise<{ events: number; rows: number }> {
  return app.db.transaction().execute(async (trx) => {
    const counted = async () => {
      const { rows } = await sql<{ rows: number }>`
        select sum(pg_stat_get_xact_tuples_fetched(c.oid) + pg_stat_get_xact_tuples_returned(c.oid)
          + coalesce((select sum(pg_stat_get_xact_tuples_returned(i.indexrelid)) from pg_index i where i.indrelid = c.oid), 0))::int as rows
        from pg_class c where c.relname ~ '^events(_|$)' and c.relkind = 'r'`.execute(trx)
      return rows[0]?.rows ?? 0
    }
    const before = await counted()
    const taken = await takeEvents(trx, most, sql`true`)
    return { events: taken?.read ?? 0, rows: (await counted()) - before }
  })
}

const drain = async (): Promise<number> => {
  let read = 0
  for (;;) {
    const page = await rowsOfPage()
    if (page.events === 0) return read
    read += page.events
  }
}

/** The most rows that one of some pages reads while so many events wait. */
async function mostRows(events: number): Promise<number> {
  await drain()
  await appendMany(events / 50, 50)
  await sql`analyze events`.execute(app.db)
  const pages = await eventually('pages of the backlog', async () => {
    const some = [await rowsOfPage(), await rowsOfPage(), await rowsOfPage()]
    return some.every((page) => page.events === most) && some
  })
  return Math.max(...pages.map(({ rows }) => rows))
}

describe('a backlog of the outbox', () => {
  it('costs a page no more rows when it is ten times as long', async () => {
    const [short, long] = [await mostRows(5000), await mostRows(50_000)]
    // A window has 2400 events to cut, each read by the index and from the table, and then its page.
    expect(long).toBeLessThan(2 * short)
    expect(long).toBeLessThan(12_000)
  })

  it('is read once and in order, one transaction after the other, whatever the windows', async () => {
    await drain()
    await sql`delete from events`.execute(app.db)
    await appendMany(100, 60)
    const seen: number[] = []
    await eventually('all are read', async () => {
      const taken = await app.db.transaction().execute((trx) => takeEvents(trx, most, sql`true`))
      seen.push(...(taken?.events.map(({ id }) => id) ?? []))
      return seen.length >= 6000
    })
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(new Set(seen).size).toBe(6000)
  })
})
