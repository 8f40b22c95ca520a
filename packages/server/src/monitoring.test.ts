import { describe, expect, it, onTestFinished } from 'vitest'
import { anAgent, anAgentWorld } from '../test/agent-client.ts'
import { startApp, type AppOptions, type TestApp } from '../test/app.ts'
import { aPipeline, aQueue } from '../test/builders.ts'
import { parseMetrics, readMetrics, type TestMetrics } from '../test/metrics.ts'
import { aBuild } from '../test/runs.ts'
import { buildMonitoringServer, monitoringOf } from './monitoring.ts'
import { openDatabase } from './db/pool.ts'
import { enqueue } from './tasks/enqueue.ts'
import { startPollers } from './tasks/pollers.ts'
import { runTasks } from './tasks/run.ts'
import type { Handlers } from './tasks/kinds.ts'
import type { Context } from './context.ts'
import { aroundPollers, aroundTasks, handlers } from './worker.ts'
import { eventually } from '../test/eventually.ts'

/** Values are kept for some seconds, so each test reads them once, from a server of its own. */
async function anApp(options: AppOptions = {}, beside?: TestApp): Promise<TestApp> {
  const env = { MILLRACE_PING_HOLD_SECONDS: '0', ...options.env }
  const app = await startApp({ ...options, env }, beside?.database)
  onTestFinished(() => app.close())
  return app
}

/** The metrics of the database are left out while reading them takes long. */
const withDatabase = (read: () => Promise<TestMetrics>): Promise<TestMetrics> =>
  eventually('the metrics of the database are there', async () => {
    const metrics = await read()
    return metrics.value('millrace_database_metrics_read_seconds') !== undefined && metrics
  })

const readAllMetrics = (app: TestApp): Promise<TestMetrics> => withDatabase(() => readMetrics(app))

/** The labels of a queue are looked up when its first job has started. */
const untilWaitCounted = (app: TestApp, labels: Record<string, string>) =>
  eventually('the wait of one job is counted', async () => {
    const { value } = await readMetrics(app)
    return value('millrace_job_wait_seconds_count', labels) === 1
  })

describe('GET /metrics', () => {
  it('shows the jobs and agents of each queue', async () => {
    const app = await anApp()
    const world = await anAgentWorld(app)
    const steps = 'steps: [{ command: one }, { command: two }, { command: three }, wait, { command: later }]'
    await aBuild(app, world.org, await aPipeline(app, world.org, steps))
    const [busy] = [await anAgent(app, world.token), await anAgent(app, world.token)]
    await busy.begin()
    const empty = await aQueue(app, world.cluster, world.admin)
    await app.request('POST', `${empty.path}/pause_dispatch`, { token: world.admin.token })
    await app.db
      .updateTable('jobs')
      .set({ runnable_at: new Date(Date.now() - 60_000).toISOString() })
      .where('state', '=', 'scheduled')
      .execute()

    const metrics = await readAllMetrics(app)
    const labels = { organization: world.org.slug, cluster: world.cluster.name, queue: world.queue.key }
    expect(metrics.value('millrace_queue_jobs_waiting', labels)).toBe(2)
    expect(metrics.value('millrace_queue_jobs_running', labels)).toBe(1)
    expect(metrics.value('millrace_queue_oldest_waiting_seconds', labels)).toBeGreaterThanOrEqual(60)
    expect(metrics.value('millrace_queue_agents_connected', labels)).toBe(2)
    expect(metrics.value('millrace_queue_agents_busy', labels)).toBe(1)
    expect(metrics.value('millrace_queue_dispatch_paused', labels)).toBe(0)
    await untilWaitCounted(app, labels)
    expect(metrics.value('millrace_dispatch_duration_seconds_count')).toBe(1)
    const other = { ...labels, queue: empty.key }
    expect(metrics.value('millrace_queue_jobs_waiting', other)).toBe(0)
    expect(metrics.value('millrace_queue_dispatch_paused', other)).toBe(1)
  })

  it('counts builds and jobs once they are committed', async () => {
    const app = await anApp()
    const world = await anAgentWorld(app)
    const pipeline = await aPipeline(app, world.org, 'steps: [{ command: one }]')
    await aBuild(app, world.org, pipeline)
    await (await (await anAgent(app, world.token)).begin()).finish(1)
    const body = { commit: 'HEAD', branch: 'main', message: 'again' }
    const path = `${world.org.path}/pipelines/${pipeline.slug}/builds`
    const headers = { 'Idempotency-Key': 'once' }
    for (const status of [201, 201])
      expect((await app.request('POST', path, { token: world.admin.token, headers, body })).status).toBe(
        status,
      )

    const metrics = await readMetrics(app)
    expect(metrics.value('millrace_builds_created_total')).toBe(2)
    expect(metrics.value('millrace_builds_finished_total', { state: 'failed' })).toBe(1)
    expect(metrics.value('millrace_jobs_finished_total')).toBe(1)
  })

  it('gives labels of their own to the oldest queues only', async () => {
    const app = await anApp({ env: { MILLRACE_METRICS_QUEUES: '1' } })
    const [first, second, third] = [await anAgentWorld(app), await anAgentWorld(app), await anAgentWorld(app)]
    for (const { org } of [first, second, third])
      await aBuild(app, org, await aPipeline(app, org, 'steps: [{ command: one }]'))
    await (await anAgent(app, third.token)).begin()

    const metrics = await readAllMetrics(app)
    const other = { organization: 'other', cluster: 'other', queue: 'other' }
    expect(metrics.value('millrace_queue_jobs_waiting', { organization: first.org.slug })).toBe(1)
    expect(metrics.value('millrace_queue_jobs_waiting', { organization: second.org.slug })).toBeUndefined()
    expect(metrics.value('millrace_queue_jobs_waiting', other)).toBe(1)
    expect(metrics.value('millrace_queue_jobs_running', other)).toBe(1)
    await untilWaitCounted(app, other)
  })

  it('shows received logs, uploads and requests to the store', async () => {
    const app = await anApp()
    const world = await anAgentWorld(app)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const run = await (await anAgent(app, world.token)).begin()
    for (const sequence of [1, 2])
      await run.call('POST', `jobs/${run.id}/chunks?sequence=${sequence}&offset=${(sequence - 1) * 8}`, {
        body: 'hello',
      })
    await app.ctx.blobs.head('logs/none')

    const metrics = await readMetrics(app)
    expect(metrics.value('millrace_log_received_chunks_total')).toBe(2)
    expect(metrics.value('millrace_log_received_bytes_total')).toBe(16)
    const heads = { operation: 'head', result: 'ok' }
    expect(metrics.value('millrace_blob_request_duration_seconds_count', heads)).toBe(1)
  })

  it('shows how far the relay, the deliveries and the compaction of logs are behind', async () => {
    const app = await anApp()
    const world = await anAgentWorld(app)
    await aBuild(app, world.org, await aPipeline(app, world.org, 'steps: [{ command: one }]'))
    const run = await (await anAgent(app, world.token)).begin()
    await run.call('POST', `jobs/${run.id}/chunks?sequence=1&offset=0`, { body: 'hello' })
    await run.finish()
    const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString()
    await app.db
      .updateTable('jobs')
      .set({ finished_at: ago(600) })
      .where('id', '=', run.id)
      .execute()
    await app.db
      .updateTable('events')
      .set({ created_at: ago(30) })
      .execute()

    const metrics = await readAllMetrics(app)
    const events = await app.db.selectFrom('events').select('id').execute()
    expect(metrics.value('millrace_relay_unread_events')).toBe(events.length)
    expect(metrics.value('millrace_relay_lag_seconds')).toBeGreaterThanOrEqual(30)
    expect(metrics.value('millrace_deliveries_pending')).toBe(0)
    expect(metrics.value('millrace_log_compactions_waiting')).toBe(1)
    expect(metrics.value('millrace_log_compactions_oldest_seconds')).toBeGreaterThanOrEqual(400)
  })

  it('shows tasks and pollers, with their failures', async () => {
    const app = await anApp()
    const failing: Handlers<Context> = {
      ...handlers,
      expire_sessions: () => Promise.reject(new Error('The disk is on fire.')),
    }
    const options = { cron: {}, around: aroundTasks(app.ctx) }
    const tasks = await runTasks(app.database.pool, app.ctx.log, app.ctx, failing, options)
    await enqueue(app.db, 'expire_rate_limits', {})
    await enqueue(app.db, 'expire_sessions', {})
    const pollers = {
      calm: { everySeconds: 60, run: async () => {} },
      upset: { everySeconds: 60, run: () => Promise.reject(new Error('No.')) },
    }
    const polling = startPollers(app.ctx.log, app.db, app.ctx, pollers, { around: aroundPollers(app.ctx) })
    await eventually('both tasks were run', async () => {
      const ran = await app.ctx.metrics.tasks.get()
      const counts = ran.values.filter(({ metricName }) => metricName?.endsWith('_count'))
      return counts.length === 2
    })
    await Promise.all([tasks.stop(), polling.stop()])
    await enqueue(app.db, 'seal_plain_secrets', {})

    // The runner does not wait until a failure is recorded.
    const metrics = await eventually('the failure is recorded', async () => {
      const read = await readAllMetrics(app)
      return read.value('millrace_tasks_retrying', { kind: 'expire_sessions' }) === 1 && read
    })
    const runs = (kind: string, result: string) =>
      metrics.value('millrace_task_duration_seconds_count', { kind, result })
    expect(runs('expire_rate_limits', 'ok')).toBe(1)
    expect(runs('expire_sessions', 'failed')).toBe(1)
    expect(metrics.value('millrace_tasks_waiting', { kind: 'seal_plain_secrets' })).toBe(1)
    expect(metrics.value('millrace_tasks_running')).toBe(0)
    const polls = (poller: string, result: string) =>
      metrics.value('millrace_poller_duration_seconds_count', { poller, result })
    expect(polls('calm', 'ok')).toBe(1)
    expect(polls('upset', 'failed')).toBe(1)
  })

  it('reads the metrics of the database in one process, and another takes over when that one stops', async () => {
    const first = await anApp()
    const second = await anApp({}, first)
    const hasLag = ({ value }: TestMetrics) => value('millrace_relay_lag_seconds') !== undefined
    const reads = async (app: TestApp) => hasLag(await readAllMetrics(app))
    // Nobody has asked for metrics, so no process has read any.
    expect(await first.db.selectFrom('metrics_reader').selectAll().execute()).toEqual([])
    expect(await reads(first)).toBe(true)
    expect(hasLag(await readMetrics(second))).toBe(false)
    expect(await reads(first)).toBe(true)
    await monitoringOf(first.ctx, first.database).stop()
    expect(await reads(second)).toBe(true)
  })

  it('reads no large table from end to end', async () => {
    const app = await anApp()
    // PostgreSQL reads small tables without an index, so it is told to use one wherever it can.
    const { rows } = await app.database.pool.query<{ name: string }>('select current_database() as name')
    await app.database.pool.query(`alter database "${rows[0]?.name}" set enable_seqscan = off`)
    const database = openDatabase(app.database.pool.options)
    const scans = async () => {
      const { rows: tables } = await app.database.pool.query<{ table: string; all: number; indexed: number }>(
        `select coalesce(pg_partition_root(relid)::text, relname) as table, sum(seq_scan)::int as all,
          sum(idx_scan)::int as indexed
        from pg_stat_user_tables where coalesce(pg_partition_root(relid)::text, relname) = any ($1) group by 1 order by 1`,
        [['agents', 'events', 'job_log_chunks', 'jobs', 'notification_deliveries']],
      )
      return tables
    }
    const before = await scans()
    const server = await startApp({}, database)
    await readAllMetrics(server)
    await server.close()
    // A session reports its scans when it ends.
    await database.close()
    const after = await eventually('all were read by an index', async () => {
      const now = await scans()
      return now.every(({ indexed }, n) => indexed > (before[n]?.indexed ?? 0)) && now
    })
    expect(after.map(({ all }) => all)).toEqual(before.map(({ all }) => all))
    expect(after).toHaveLength(5)
  })

  it('shows the other metrics while those of the database cannot be read', async () => {
    const app = await anApp()
    await app.database.pool.query('alter table notification_cursor rename to gone')
    const metrics = await readMetrics(app)
    expect(metrics.value('millrace_database_available')).toBe(1)
    expect(metrics.value('millrace_queue_jobs_waiting')).toBeUndefined()
    await eventually('the log has the reason', async () =>
      app.logLines.join('').includes('The metrics of the database could not be read.'),
    )
  })
})

describe('MILLRACE_METRICS_LISTEN', () => {
  it('serves health and metrics without the API', async () => {
    const app = await anApp()
    const server = buildMonitoringServer(app.ctx, app.database, '127.0.0.1')
    onTestFinished(() => server.close())
    const get = async (url: string) => {
      const { statusCode, body } = await server.inject({ url })
      return { statusCode, body }
    }
    expect(await get('/healthz')).toEqual({ statusCode: 200, body: '{"status":"ok"}' })
    expect(await get('/readyz')).toEqual({ statusCode: 200, body: '{"status":"ready"}' })
    const metrics = await withDatabase(async () => {
      const { statusCode, body } = await get('/metrics')
      expect(statusCode).toBe(200)
      return parseMetrics(body)
    })
    expect(metrics.value('millrace_relay_lag_seconds')).toBe(0)
    expect((await get('/v2/meta')).statusCode).toBe(404)
  })

  it('needs MILLRACE_METRICS_TOKEN on an address that others reach', async () => {
    const app = await anApp()
    const server = buildMonitoringServer(app.ctx, app.database, '0.0.0.0')
    onTestFinished(() => server.close())
    expect((await server.inject({ url: '/metrics' })).statusCode).toBe(401)
  })
})
