// What an operator's monitoring reads: liveness, readiness, and Prometheus metrics.
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

declare module 'fastify' {
  interface FastifyInstance {
    /** Of this server; what else is served on it adds its own. */
    metrics: Registry
  }
}

let ofProcess: Promise<Registry> | undefined

const firstLookMs = 50

/**
 * Memory, time, garbage: they are the process's, and watching them cannot be given up again. It begins when they are first
 * asked for, since it wakes the process a hundred times a second; that first answer waits until there is something to see.
 */
async function watchProcess(): Promise<Registry> {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  await delay(firstLookMs)
  return registry
}

export function serveMetrics(app: FastifyInstance, pool: pg.Pool): void {
  const registry = new Registry()
  app.decorate('metrics', registry)
  const seconds = new Histogram({
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
      connections.set({ state: 'open' }, pool.totalCount)
      connections.set({ state: 'idle' }, pool.idleCount)
      connections.set({ state: 'waited_for' }, pool.waitingCount)
    },
  })
  const ofLabels = new Map<string, ReturnType<typeof seconds.labels>>()
  app.addHook('onResponse', (request, reply, next) => {
    const { method, routeOptions } = request
    const route = routeOptions.url ?? 'unknown'
    const key = `${method} ${reply.statusCode} ${route}`
    let own = ofLabels.get(key)
    if (own === undefined)
      ofLabels.set(key, (own = seconds.labels({ method, route, status: reply.statusCode })))
    own.observe(reply.elapsedTime / 1000)
    next()
  })

  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    try {
      await pool.query('select from organizations limit 1')
      return { status: 'ready' }
    } catch (error) {
      return reply
        .code(503)
        .send({ message: `Not ready: ${error instanceof Error ? error.message : 'unknown'}` })
    }
  })
  app.get('/metrics', async (_request, reply) => {
    ofProcess ??= watchProcess()
    const shared = await ofProcess
    const parts = await Promise.all([shared.metrics(), registry.metrics()])
    return reply.type(registry.contentType).send(parts.join('\n'))
  })
}
