// Notifications: 10,000 events to ten webhooks, and the same with one of the ten dead. The two alternate, so that other
// load on the machine affects both.
import { setTimeout as delay } from 'node:timers/promises'
import type { Context } from '@millrace/server/context.ts'
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { startChild, type Child } from '../../testbed/dist/children.js'
import type { Tally } from './children/receivers.ts'
import { contextOn } from './harness/context.ts'
import { backlogRatio, relayRate } from './notify/relay.ts'
import { row, type Report } from './harness/report.ts'
import { aWebhook, events, runBuild, type Place } from './notify/notified-builds.ts'
import { seedOrganization, seedPipeline } from './harness/seed.ts'

const builds = Number(process.env['BENCH_NOTIFY_BUILDS'] ?? 2000)
const receivers = 10
const repetitions = 5
const buildsPerRound = Math.ceil(builds / repetitions)

export async function benchNotify(): Promise<Report> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  const seeded = await seedOrganization(database.db)
  const pipelineId = await seedPipeline(database.db, seeded, 'notified', 'steps: [{command: "true"}]')
  const ctx = contextOn(database)
  const { child: receiving, ready } = await startChild(
    new URL('./children/receivers.js', import.meta.url),
    {},
  )
  const services: string[] = []
  for (const port of ready as number[]) services.push(await aWebhook(ctx, seeded.orgId, port))
  const { child: worker } = await startChild(new URL('./children/worker.js', import.meta.url), {
    DATABASE_URL: postgres.url,
    MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
  })
  const measure = (dead: number) =>
    measureRound(ctx, { organizationId: seeded.orgId, pipelineId }, receiving, dead)

  const healthy: Round[] = []
  const oneDead: Round[] = []
  for (let count = 0; count < repetitions; count++) {
    healthy.push(await measure(-1))
    oneDead.push(await measure(receivers - 1))
    await discardBacklog(ctx, services.at(-1) ?? '')
  }
  await worker.stop()
  await receiving.stop()
  await database.close()
  await postgres.stop()

  const kept = middle(
    oneDead.map((round, n) => round.perReceiverAndSecond / (healthy[n]?.perReceiverAndSecond ?? NaN)),
  )
  const shown = (what: string, rounds: readonly Round[]) =>
    row(
      what,
      `${Math.round(middle(rounds.map(({ perSecond }) => perSecond)))} deliveries/s`,
      `p50 ${middle(rounds.map(({ p50 }) => p50))} ms, p95 ${middle(rounds.map(({ p95 }) => p95))} ms from state change to arrival, median of ${repetitions} rounds`,
    )
  const backlog = await backlogRatio()
  return {
    name: 'notify',
    rows: [
      shown(`${builds * events.length} events to ${receivers} services`, healthy),
      shown('the same, one receiver dead', oneDead),
      await relayRate(),
      backlog.row,
    ],
    targets: [
      {
        what: 'one of ten receivers dead: remaining rate of the other nine',
        target: '> 90 %',
        measured: `${(kept * 100).toFixed(1)} %`,
        met: kept > 0.9,
      },
      backlog.target,
    ],
  }
}

const middle = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

/** Discards the dead receiver's deliveries and waits for its open attempts, which would disturb the next round. */
async function discardBacklog(ctx: Context, serviceId: string): Promise<void> {
  await ctx.db
    .updateTable('notification_deliveries')
    .set({ state: 'discarded', finished_at: new Date().toISOString() })
    .where('service_id', '=', serviceId)
    .where('state', '=', 'pending')
    .execute()
  const hanging = ctx.db
    .selectFrom('notification_queues')
    .select('ordered_queue')
    .where('owner_id', '=', serviceId)
    .where('leased_until', 'is not', null)
  while ((await hanging.execute()).length > 0) await delay(200)
}

interface Round {
  perSecond: number
  perReceiverAndSecond: number
  p50: number
  p95: number
}

async function measureRound(ctx: Context, place: Place, receiving: Child, dead: number): Promise<Round> {
  await receiving.ask({ reset: true, dead })
  const began = Date.now()
  let made = 0
  const run = async () => {
    while (made < buildsPerRound) {
      made += 1
      await runBuild(ctx, place)
    }
  }
  await Promise.all(Array.from({ length: 8 }, run))
  const alive = receivers - (dead < 0 ? 0 : 1)
  const expected = buildsPerRound * events.length
  for (;;) {
    const tally = await receiving.ask<Tally>({ reset: false })
    const living = tally.counts.filter((_, n) => n !== dead)
    if (living.every((count) => count >= expected)) {
      const seconds = (tally.lastAt - began) / 1000
      const at = (part: number) => tally.delays[Math.floor(tally.delays.length * part)] ?? 0
      const perSecond = (alive * expected) / seconds
      return { perSecond, perReceiverAndSecond: perSecond / alive, p50: at(0.5), p95: at(0.95) }
    }
    await delay(200)
  }
}
