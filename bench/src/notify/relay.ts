// How many events of the outbox one worker turns into deliveries.
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
