// How many events of the outbox one worker turns into deliveries, and how fast it reads a backlog that nobody wants.
import { sql } from 'kysely'
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { relay } from '@millrace/server/notifications/outbox/relay.ts'
import { loadSnapshots } from '@millrace/server/resources/notifications/services/load-snapshots.ts'
import { contextOn } from '../harness/context.ts'
import { aWebhook, runBuild } from './notified-builds.ts'
import { row, type Report } from '../harness/report.ts'
import { seedOrganization, seedPipeline } from '../harness/seed.ts'

const builds = 1000

export async function relayRate(): Promise<Report['rows'][number]> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  const seeded = await seedOrganization(database.db)
  const pipelineId = await seedPipeline(database.db, seeded, 'notified', 'steps: [{command: "true"}]')
  const ctx = contextOn(database)
  await aWebhook(ctx, seeded.orgId, 1)
  let made = 0
  const run = async () => {
    while (made++ < builds) await runBuild(ctx, { organizationId: seeded.orgId, pipelineId })
  }
  await Promise.all(Array.from({ length: 8 }, run))
  const began = performance.now()
  const { events, deliveries } = await relay(ctx, loadSnapshots('http://localhost'))
  const seconds = (performance.now() - began) / 1000
  await database.close()
  await postgres.stop()
  return row(
    'relay, one webhook wants most events',
    `${Math.round(deliveries / seconds)} wanted events/s`,
    `${events} events read, ${deliveries} wanted`,
  )
}

const short = 30_000
const ofTransaction = 300

/** A backlog that is ten times as long should take ten times as long. */
export async function backlogRatio(): Promise<{
  row: Report['rows'][number]
  target: Report['targets'][number]
}> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  const { orgId } = await seedOrganization(database.db)
  const ctx = contextOn(database)
  const snapshots = loadSnapshots('http://localhost')
  const secondsFor = async (events: number): Promise<number> => {
    for (let made = 0; made < events; made += ofTransaction) {
      await sql`
        insert into events (organization_id, kind, created_at)
        select ${orgId}, 'nobody.wants_this', now() from generate_series(1, ${ofTransaction}::integer)`.execute(
        database.db,
      )
    }
    const began = performance.now()
    for (let read = 0; read < events; read += (await relay(ctx, snapshots)).events);
    return (performance.now() - began) / 1000
  }
  await relay(ctx, snapshots)
  const [few, many] = [await secondsFor(short), await secondsFor(10 * short)]
  await database.close()
  await postgres.stop()
  const ratio = many / few / 10
  const measured = `${ratio.toFixed(2)} times as long`
  return {
    row: row(
      'relay, per event of a backlog ten times as long',
      measured,
      `${short} events in ${few.toFixed(1)} s, ${10 * short} in ${many.toFixed(1)} s`,
    ),
    target: {
      what: 'relay, a backlog ten times as long: time per event',
      target: '< 2 times as long',
      measured,
      met: ratio < 2,
    },
  }
}
