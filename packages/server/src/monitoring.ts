// Everything that monitoring sees of a process: its own metrics, those of Node, and those that are read from the
// database. A process that answers no API serves them, and its health, on a port of their own.
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { Gauge } from 'prom-client'
import { measureQueues } from './conductor/dispatch/queue-metrics.ts'
import type { Context } from './context.ts'
import { readVersion } from './db/migrate.ts'
import type { Database } from './db/pool.ts'
import { answerError } from './http/error-handler.ts'
import { serveHealth } from './http/health.ts'
import { collectProcessMetrics, measureDatabase, serveMetrics } from './http/metrics.ts'
import { databaseMetrics, type DatabaseMetric } from './metrics/database-metrics.ts'
import { measureFailedRows } from './metrics/failed-rows-metrics.ts'
import { measureTasks } from './metrics/task-metrics.ts'
import { measureThreads } from './metrics/thread-metrics.ts'
import { measureDeliveries } from './notifications/delivery/delivery-metrics.ts'
import { measureRelay } from './notifications/outbox/relay-metrics.ts'
import { measureCompaction } from './resources/builds/log/ingest/compaction-metrics.ts'

/** A metric of the database that is not listed here is not read. */
const metricsOfDatabase: readonly DatabaseMetric[] = [
  measureQueues,
  measureTasks,
  measureFailedRows,
  measureRelay,
  measureDeliveries,
  measureCompaction,
]

export interface MetricDescription {
  name: string
  type: string
  labels: readonly string[]
}

interface Monitoring {
  /** The text of all metrics of this process. */
  read(): Promise<string>
  /** All metrics that `read` may return. */
  list(): Promise<MetricDescription[]>
  /** Lets another process read the metrics of the database. */
  stop(): Promise<void>
}

const known = new WeakMap<Context['metrics'], Monitoring>()

/** One for each process, which may serve it on two ports. */
export function monitoringOf(ctx: Context, database: Database): Monitoring {
  const monitoring = known.get(ctx.metrics) ?? createMonitoring(ctx, database)
  known.set(ctx.metrics, monitoring)
  return monitoring
}

function createMonitoring({ config, metrics, queueLabels, log }: Context, database: Database): Monitoring {
  measureDatabase(metrics, database)
  measureThreads(metrics)
  const info = new Gauge({
    name: 'millrace_info',
    help: 'Always 1. The labels are the version and the roles of the process.',
    labelNames: ['version', 'roles'],
    registers: [metrics.registry],
    async collect() {
      info.set({ version: await readVersion(), roles: config.roles.join(',') }, 1)
    },
  })
  const ofDatabase = databaseMetrics(database.slow.db, queueLabels, metricsOfDatabase, (error) =>
    log.warn({ err: error }, 'The metrics of the database could not be read.'),
  )
  return {
    async read() {
      const ofProcess = await collectProcessMetrics()
      const parts = [ofProcess.metrics(), metrics.registry.metrics(), ofDatabase.text()]
      return (await Promise.all(parts)).join('\n')
    },
    async list() {
      const registries = [await collectProcessMetrics(), metrics.registry, ofDatabase.registry]
      return registries.flatMap((registry) => registry.getMetricsAsArray().map(describe))
    },
    stop: ofDatabase.stop,
  }
}

/** The library does not declare the labels of a metric. */
const describe = (metric: { name: string; type: unknown }): MetricDescription => ({
  name: metric.name,
  type: String(metric.type),
  labels: Reflect.get(metric, 'labelNames') as string[],
})

/** `GET /healthz`, `/readyz` and `/metrics`, without the API. */
export function buildMonitoringServer(ctx: Context, database: Database, host: string): FastifyInstance {
  const loggerInstance: FastifyBaseLogger = ctx.log
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  })
  app.decorate('lifecycle', { isStopping: false })
  app.setErrorHandler(answerError)
  serveHealth(app, database.pool)
  const { read, stop } = monitoringOf(ctx, database)
  app.addHook('preClose', stop)
  serveMetrics(app, { host, token: ctx.config.secrets.metricsToken }, read)
  return app
}
