// Prometheus metrics, for an operator's monitoring.
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { requireMetricsAccess, type MetricsAccess } from './metrics-access.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The metrics of this server. */
    metrics: Registry
  }
}

let processMetrics: Promise<Registry> | undefined

const firstSampleMs = 50

/**
 * Memory, processor time and garbage collection of the process. Collecting wakes the process a hundred times a second and
 * cannot be stopped, so it starts with the first request for metrics, which waits for the first sample.
 */
async function collectProcessMetrics(): Promise<Registry> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  await delay(firstSampleMs)
  return registry
}

export function serveMetrics(app: FastifyInstance, pools: readonly pg.Pool[], access: MetricsAccess): void {
  const registry = new Registry()
  app.decorate('metrics', registry)
  const requestSeconds = new Histogram({
    name: 'millrace_http_request_seconds',
    help: 'Time from the request line to the end of the answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  })
  const connections = new Gauge({
    name: 'millrace_database_connections',
    help: 'Connections of the pool, by what they are doing.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const sum = (count: (pool: pg.Pool) => number) => pools.reduce((all, pool) => all + count(pool), 0)
      connections.set(
        { state: 'open' },
        sum(({ totalCount }) => totalCount),
      )
      connections.set(
        { state: 'idle' },
        sum(({ idleCount }) => idleCount),
      )
      connections.set(
        { state: 'waited_for' },
        sum(({ waitingCount }) => waitingCount),
      )
    },
  })
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
    }
    requestSeconds.observe(labels, reply.elapsedTime / 1000)
  })

  app.get('/metrics', async (request, reply) => {
    requireMetricsAccess(access, request)
    processMetrics ??= collectProcessMetrics()
    const shared = await processMetrics
    const parts = await Promise.all([shared.metrics(), registry.metrics()])
    return reply.type(registry.contentType).send(parts.join('\n'))
  })
}
