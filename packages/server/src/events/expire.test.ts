import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually, startApp, type TestApp } from '../../test/app.ts'
import { anAdmin, anOrganization, aPipeline } from '../../test/builders.ts'
import { openStream } from '../../test/event-stream.ts'
import { aBuild, runJob } from '../../test/runs.ts'
import { listPartitions, makePartitions } from '../db/partitions.ts'
import { relay } from '../notifications/outbox/relay.ts'
import { takeTouchedBuilds } from '../resources/builds/commit-statuses/queries.ts'
import { currentCursor } from '../resources/builds/events/queries.ts'
import { loadSnapshots } from '../resources/notifications/services/load-snapshots.ts'
import { handlers } from '../worker.ts'

const dayMs = 24 * 60 * 60 * 1000

async function aScene() {
  const app = await startApp({ env: { MILLRACE_EVENT_DAYS: '10' } })
  onTestFinished(app.close)
  const org = await anOrganization(app)
  const admin = await anAdmin(app, org)
  const pipeline = await aPipeline(app, org, 'steps: [{ command: a }]')
  const build = await aBuild(app, org, pipeline)
  const countEvents = async () => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from events where build_id = ${build.id}`.execute(app.db)
    return rows[0]?.count ?? 0
  }
  return { app, org, admin, pipeline, build, countEvents }
}

/** As if the first partition had ended that many days ago. */
async function expireEvents(app: TestApp, days: number): Promise<void> {
  const ends = (await listPartitions(app.db))
    .filter(({ table }) => table === 'events')
    .map(({ endsAt }) => endsAt)
  const now = () => new Date((ends[0]?.getTime() ?? 0) + days * dayMs)
  await handlers.expire_events({ ...app.ctx, now }, {})
}

const relayAll = (app: TestApp) => relay(app.ctx, loadSnapshots(app.ctx.config.url))

const readStatuses = (app: TestApp) => app.db.transaction().execute((trx) => takeTouchedBuilds(trx))

/** A transaction of another database that ends meanwhile keeps readers from reading to the end. They then read again. */
const untilExpired = async (
  app: TestApp,
  {
    days,
    read,
    countEvents,
  }: { days: number; read: (app: TestApp) => Promise<unknown>; countEvents: () => Promise<number> },
) =>
  eventually('they are deleted', async () => {
    await read(app)
    await expireEvents(app, days)
    return (await countEvents()) === 0
  })

describe('events', () => {
  it('are deleted by the partition, when it ended as many days ago as they are kept', async () => {
    const { app, countEvents } = await aScene()
    await relayAll(app)
    await expireEvents(app, 9)
    expect(await countEvents()).toBeGreaterThan(0)
    await untilExpired(app, { days: 10, read: relayAll, countEvents })
  })

  it('stay until notifications have read them', async () => {
    const { app, countEvents } = await aScene()
    await expireEvents(app, 100)
    expect(await countEvents()).toBeGreaterThan(0)
    await untilExpired(app, { days: 100, read: relayAll, countEvents })
  })

  it('stay until commit statuses have read them', async () => {
    const { app, countEvents, build } = await aScene()
    await readStatuses(app)
    await runJob(app, build, 'a')
    await relayAll(app)
    await expireEvents(app, 100)
    expect(await countEvents()).toBeGreaterThan(0)
    const read = async () => {
      await readStatuses(app)
      await relayAll(app)
    }
    await untilExpired(app, { days: 100, read, countEvents })
  })

  it('in the default partition are deleted too', async () => {
    const { app, org } = await aScene()
    const at = new Date(Date.now() + 400 * dayMs)
    await sql`
      insert into events (organization_id, kind, created_at) values (${org.id}, 'test', ${at.toISOString()})`.execute(
      app.db,
    )
    await relayAll(app)
    const left = async () => (await sql`select from events_default`.execute(app.db)).rows.length
    const expireAt = (days: number) =>
      handlers.expire_events({ ...app.ctx, now: () => new Date(at.getTime() + days * dayMs) }, {})
    await expireAt(9)
    expect(await left()).toBe(1)
    await eventually('it is deleted', async () => {
      await relayAll(app)
      await expireAt(11)
      return (await left()) === 0
    })
  })

  it('that are older than their partition are still relayed after a long pause', async () => {
    const { app, org } = await aScene()
    await relayAll(app)
    const { db } = app
    const from = new Date(Date.now() - 300 * dayMs).toISOString()
    await sql`insert into events (organization_id, kind, created_at) values (${org.id}, 'test', ${from})`.execute(
      db,
    )
    const { rows } = await sql<{ is_unread: boolean }>`
      select (select max(xid) from events) >= to_xid as is_unread from notification_cursor`.execute(db)
    expect(rows).toEqual([{ is_unread: true }])
    await makePartitions(db, new Date(Date.now() + 30 * dayMs), app.ctx.log)
    await expireEvents(app, 100)
    expect((await sql`select from events where kind = 'test'`.execute(db)).rows).toHaveLength(1)
  })
})

describe('an event stream', () => {
  it('starts over behind a cursor whose events are deleted, and continues behind a later one', async () => {
    const { app, org, admin, pipeline, countEvents } = await aScene()
    const old = await currentCursor(app.db)
    await aBuild(app, org, pipeline)
    await untilExpired(app, { days: 100, read: relayAll, countEvents })
    const follow = (after: string) => openStream(app, `${org.path}/events?after=${after}`, admin.token)
    const behind = await follow(old.text)
    await behind.until('reset', ({ event }) => event === 'reset')

    const horizon = await app.db.selectFrom('event_horizon').select('xid').executeTakeFirstOrThrow()
    // Transactions of other databases count as running, too.
    const later = await eventually('all earlier transactions have ended', async () => {
      const cursor = await currentCursor(app.db)
      return cursor.running.every((transaction) => transaction > horizon.xid) && cursor
    })
    const build = await aBuild(app, org, pipeline)
    const ahead = await follow(later.text)
    await ahead.until('the build', ({ data }) => data.builds?.some(({ id }) => id === build.id) ?? false)
    expect(ahead.messages.some(({ event }) => event === 'reset')).toBe(false)
  })
})
