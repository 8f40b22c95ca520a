// Notifications: 10,000 events to ten webhooks, then the same with one of the ten dead.
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '@millrace/server/config.ts'
import { act } from '@millrace/server/conductor/act.ts'
import { createBuild } from '@millrace/server/conductor/create-build.ts'
import { createContext, type Context } from '@millrace/server/context.ts'
import { startTemporary } from '@millrace/server/db/embedded/temporary.ts'
import { migrate } from '@millrace/server/db/migrate.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { sealSecrets } from '@millrace/server/notifications/open-service.ts'
import { newId } from '@millrace/server/lib/ids.ts'
import pino from 'pino'
import { startChild, type Child } from './children.ts'
import type { Tally } from './child-receivers.ts'
import { row, type Report } from './report.ts'
import { seedOrganization, seedPipeline } from './seed.ts'

const events = ['job.scheduled', 'job.started', 'job.finished', 'build.running', 'build.finished']
const builds = Number(process.env['BENCH_NOTIFY_BUILDS'] ?? 2000)
const receivers = 10

export async function benchNotify(): Promise<Report> {
  const postgres = await startTemporary()
  const database = openDatabase(postgres.connection)
  await migrate(database.pool)
  const seeded = await seedOrganization(database.db)
  const pipelineId = await seedPipeline(database.db, seeded, 'told', 'steps: [{command: "true"}]')
  const ctx = contextOn(database)
  const { child: receiving, ready } = await startChild('./child-receivers.js', {})
  for (const port of ready as number[]) await aWebhook(ctx, seeded.orgId, port)
  const { child: worker } = await startChild('./child-worker.js', {
    DATABASE_URL: postgres.url,
    MILLRACE_OUTBOUND_ALLOW: '127.0.0.0/8',
  })
  const measure = (dead: number) =>
    measureRound(ctx, { organizationId: seeded.orgId, pipelineId }, receiving, dead)

  const healthy = await measure(-1)
  const oneDead = await measure(receivers - 1)
  await worker.stop()
  await receiving.stop()
  await database.close()
  await postgres.stop()

  const kept = oneDead.perReceiverAndSecond / healthy.perReceiverAndSecond
  const shown = (what: string, round: Round) =>
    row(
      what,
      `${Math.round(round.perSecond)} deliveries/s`,
      `p50 ${round.p50} ms, p95 ${round.p95} ms from state change to arrival`,
    )
  return {
    name: 'notify',
    rows: [
      shown(`${builds * events.length} events to ${receivers} services`, healthy),
      shown('the same, one receiver dead', oneDead),
    ],
    targets: [
      {
        what: 'one of ten receivers dead: what the other nine keep of their rate',
        target: '> 90 %',
        measured: `${(kept * 100).toFixed(1)} %`,
        met: kept > 0.9,
      },
    ],
  }
}

interface Place {
  organizationId: string
  pipelineId: string
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
    while (made < builds) {
      made += 1
      await runBuild(ctx, place)
    }
  }
  await Promise.all(Array.from({ length: 8 }, run))
  const alive = receivers - (dead < 0 ? 0 : 1)
  const expected = builds * events.length
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

async function runBuild(ctx: Context, { organizationId, pipelineId }: Place): Promise<void> {
  const made = await createBuild(ctx, organizationId, {
    pipelineId,
    source: 'api',
    creatorId: null,
    author: null,
    commit: 'HEAD',
    branch: 'main',
    tag: null,
    message: 'bench',
    env: {},
    metaData: {},
    pullRequest: null,
    cleanCheckout: false,
    ignoreBranchFilters: false,
    rebuiltFrom: null,
    triggeredFrom: null,
    dueAt: null,
  })
  if (!made.ok) throw new Error(made.message)
  const { id: jobId } = await ctx.db
    .selectFrom('jobs')
    .select('id')
    .where('build_id', '=', made.buildId)
    .executeTakeFirstOrThrow()
  for (const type of ['assign', 'accept', 'start'] as const) {
    await act(ctx, organizationId, made.buildId, { type, jobId })
  }
  const end = { type: 'finish', jobId, exitStatus: 0, signal: null, signalReason: null } as const
  await act(ctx, organizationId, made.buildId, end)
}

async function aWebhook(ctx: Context, organizationId: string, port: number): Promise<void> {
  const settings = {
    url: `http://127.0.0.1:${port}/`,
    token_mode: 'token',
    version: 3,
    events,
    tls_verify: true,
  }
  await ctx.db
    .insertInto('notification_services')
    .values({
      id: newId(),
      organization_id: organizationId,
      provider: 'webhook',
      settings: JSON.stringify(settings),
      ...sealSecrets(ctx.keys, { token: 'bench' }),
    })
    .execute()
}

function contextOn({ db, pool }: ReturnType<typeof openDatabase>): Context {
  const read = readConfig({})
  if (!read.ok) throw new Error(read.problems.join(' '))
  const log = pino({ level: 'silent' })
  return createContext({ config: read.config, db, pool, log, secretKeys: ['x'.repeat(32)], hosted: null })
}
