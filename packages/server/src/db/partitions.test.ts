import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startApp, type TestApp } from '../../test/app.ts'
import { anOrganization } from '../../test/builders.ts'
import {
  dropPartitions,
  firstUuidAt,
  listPartitions,
  makePartitions,
  partitionedTables,
} from './partitions.ts'
import { partitionLock, type PartitionedName } from './partitions.ts'

const dayMs = 24 * 60 * 60 * 1000
const week = 7 * dayMs

/** Each test changes the partitions of a database of its own. */
async function aDatabase(): Promise<TestApp> {
  const app = await startApp()
  onTestFinished(app.close)
  return app
}

const inDays = (days: number) => new Date(Date.now() + days * dayMs)

const endsOf = async (app: TestApp, table: PartitionedName) =>
  (await listPartitions(app.db)).filter((one) => one.table === table).map(({ endsAt }) => endsAt)

const anEvent = async (app: TestApp, at: Date) => {
  const { rows } = await sql<{ id: number; partition: string }>`
    insert into events (organization_id, kind, created_at) values (${randomUUID()}, 'test', ${at.toISOString()})
    returning id, tableoid::regclass::text as partition`.execute(app.db)
  const [row] = rows
  if (row === undefined) throw new Error('No event was inserted.')
  return row
}

const isThere = async (app: TestApp, { id }: { id: number }) => {
  const { rows } = await sql`select from events where id = ${id}`.execute(app.db)
  return rows.length === 1
}

describe('partitions', () => {
  it('are known of every table that has them', async () => {
    const app = await aDatabase()
    const { rows } = await sql<{ name: string; key: string }>`
      select c.relname as name, pg_get_partkeydef(c.oid) as key from pg_class c
      where c.relkind = 'p' and c.relnamespace = 'public'::regnamespace`.execute(app.db)
    expect(new Map(rows.map(({ name, key }) => [name, key]))).toEqual(
      new Map(Object.entries(partitionedTables).map(([name, { key }]) => [name, `RANGE (${key})`])),
    )
  })

  it('end where the next one begins, at Monday or the first of a month in UTC', async () => {
    const app = await aDatabase()
    await makePartitions(app.db, inDays(300), app.ctx.log)
    const all = (await listPartitions(app.db)).filter(({ startsAt }) => startsAt !== null)
    for (const { table, startsAt, endsAt, name } of all) {
      const day = startsAt?.toISOString() ?? ''
      expect(day).toMatch(/T00:00:00\.000Z$/)
      expect(name).toBe(`${table}_${day.slice(0, 10).replaceAll('-', '')}`)
      const isMonth = partitionedTables[table].unit === 'month'
      expect(isMonth ? startsAt?.getUTCDate() : startsAt?.getUTCDay()).toBe(1)
      const days = (endsAt.getTime() - (startsAt?.getTime() ?? 0)) / dayMs
      expect(isMonth ? [28, 29, 30, 31] : [7]).toContain(days)
      expect(isMonth ? endsAt.getUTCDate() : 1).toBe(1)
    }
    expect(all.length).toBeGreaterThan(20)
  })

  it('have each row on its side of the border', async () => {
    const app = await aDatabase()
    const [border] = await endsOf(app, 'events')
    if (border === undefined) throw new Error('There is no partition.')
    const next = `events_${border.toISOString().slice(0, 10).replaceAll('-', '')}`
    const last = await anEvent(app, new Date(border.getTime() - 1))
    const first = await anEvent(app, border)
    expect([last.partition, first.partition]).toEqual(['events_first', next])
    expect([await isThere(app, last), await isThere(app, first)]).toEqual([true, true])

    const chunk = async (jobId: string) => {
      const { rows } = await sql<{ partition: string }>`
        insert into job_log_chunks (job_id, sequence, byte_offset, size, data) values (${jobId}, 1, 0, 1, '\\x00')
        returning tableoid::regclass::text as partition`.execute(app.db)
      return rows[0]?.partition
    }
    const chunkBorder = (await endsOf(app, 'job_log_chunks'))[0] ?? border
    const before = firstUuidAt(new Date(chunkBorder.getTime() - 1)).replace(
      /0000-0000-0+$/,
      '7fff-bfff-ffffffffffff',
    )
    expect(await chunk(before)).toBe('job_log_chunks_first')
    expect(await chunk(firstUuidAt(chunkBorder))).toBe(next.replace('events', 'job_log_chunks'))
  })
})

describe('makePartitions', () => {
  it('makes those of now and of the next four weeks, once', async () => {
    const app = await aDatabase()
    const later = inDays(100)
    await makePartitions(app.db, later, app.ctx.log)
    for (const table of Object.keys(partitionedTables) as PartitionedName[]) {
      const ends = await endsOf(app, table)
      expect(ends.at(-1)?.getTime()).toBeGreaterThanOrEqual(later.getTime() + 4 * week)
    }
    const { partition } = await anEvent(app, later)
    expect(partition).toMatch(/^events_\d{8}$/)
    const made = await listPartitions(app.db)
    await makePartitions(app.db, later, app.ctx.log)
    expect(await listPartitions(app.db)).toEqual(made)
  })

  it('is safe in several processes at once', async () => {
    const app = await aDatabase()
    const others = [await startApp({}, app.database), await startApp({}, app.database)]
    onTestFinished(() => Promise.all(others.map((other) => other.close())).then(() => {}))
    const make = () => makePartitions(app.db, inDays(100), app.ctx.log)
    await Promise.all([make(), ...others.map(make), make()])
    await make()
    expect((await anEvent(app, inDays(128))).partition).toMatch(/^events_\d{8}$/)
  })

  it('gives partitions the indexes, keys and triggers of their table', async () => {
    const app = await aDatabase()
    await makePartitions(app.db, inDays(100), app.ctx.log)
    const { rows } = await sql<{ table: string; first: string[]; last: string[] }>`
      with described as (
        select i.inhparent, c.relname = p.relname || '_first' as is_first, array(
          select regexp_replace(pg_get_indexdef(x.indexrelid), '^.* USING ', '') from pg_index x where x.indrelid = c.oid
          union all
          select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n'
          union all
          select t.tgname from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal and t.tgtype & 1 = 1
          order by 1) as what
        from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
        where p.relkind = 'p'
      )
      select a.inhparent::regclass::text as table, a.what as first, b.what as last
      from described a join described b on b.inhparent = a.inhparent and a.is_first and not b.is_first`.execute(
      app.db,
    )
    expect(new Set(rows.map(({ table }) => table))).toEqual(new Set(Object.keys(partitionedTables)))
    for (const { table, first, last } of rows) expect({ table, what: last }).toEqual({ table, what: first })
  })

  it('leaves rows of a long pause where they are, and they are found', async () => {
    const app = await aDatabase()
    const later = inDays(365)
    const row = await anEvent(app, later)
    expect(row.partition).toBe('events_default')
    await makePartitions(app.db, later, app.ctx.log)
    expect(await isThere(app, row)).toBe(true)
    expect((await anEvent(app, later)).partition).toBe('events_default')
    expect((await anEvent(app, new Date(later.getTime() + week))).partition).toMatch(/^events_\d{8}$/)
    expect(app.logLines.join('')).toContain('the default partition has rows of its time')
  })

  it('waits for the end of a backup', async () => {
    const app = await aDatabase()
    const client = await app.database.pool.connect()
    await client.query('select pg_advisory_lock_shared($1)', [partitionLock])
    const before = await listPartitions(app.db)
    await makePartitions(app.db, inDays(100), app.ctx.log)
    expect(await dropPartitions(app.db, 'events', inDays(100))).toEqual([])
    expect(await listPartitions(app.db)).toEqual(before)
    await client.query('select pg_advisory_unlock_shared($1)', [partitionLock])
    client.release()
    await makePartitions(app.db, inDays(100), app.ctx.log)
    expect((await listPartitions(app.db)).length).toBeGreaterThan(before.length)
  })
})

describe('dropPartitions', () => {
  it('drops what ended before, and nothing else', async () => {
    const app = await aDatabase()
    const [border] = await endsOf(app, 'events')
    if (border === undefined) throw new Error('There is no partition.')
    const last = await anEvent(app, new Date(border.getTime() - 1))
    const first = await anEvent(app, border)
    expect(await dropPartitions(app.db, 'events', new Date(border.getTime() - 1))).toEqual([])
    expect(await dropPartitions(app.db, 'events', border)).toEqual(['events_first'])
    expect([await isThere(app, last), await isThere(app, first)]).toEqual([false, true])
    // Its time has no partition any more.
    expect((await anEvent(app, new Date(border.getTime() - 1))).partition).toBe('events_default')
  })

  it('gives up while a transaction uses the table, and keeps nobody else waiting', async () => {
    const app = await aDatabase()
    const client = await app.database.pool.connect()
    // On a busy machine the attempts take longer than an idle transaction may.
    await client.query('set idle_in_transaction_session_timeout = 0')
    await client.query('begin; select from events limit 1')
    expect(await dropPartitions(app.db, 'events', inDays(100))).toEqual([])
    await anEvent(app, new Date())
    await client.query('commit')
    client.release(true)
    expect((await dropPartitions(app.db, 'events', inDays(30))).length).toBeGreaterThan(0)
  })

  it('moves rows that stay to the default partition', async () => {
    const app = await aDatabase()
    const org = await anOrganization(app)
    const ids = [1, 2, 3].map((n) => firstUuidAt(new Date(Date.now() + n)))
    await sql`
      insert into notification_messages (id, organization_id, event, occurred_at, data)
      select m.id, ${org.id}, 'ping', now(), '{}' from unnest(${ids}::uuid[]) as m (id)`.execute(app.db)
    await dropPartitions(app.db, 'notification_messages', inDays(30), {
      keep: () => sql`select ${sql.lit(ids[1])}::uuid`,
    })
    const { rows } = await sql`
      select id, tableoid::regclass::text as partition from notification_messages`.execute(app.db)
    expect(rows).toEqual([{ id: ids[1], partition: 'notification_messages_default' }])
  })
})
