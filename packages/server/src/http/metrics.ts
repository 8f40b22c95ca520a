// Prometheus metrics, for an operator's monitoring.
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { requireMetricsAccess, type MetricsAccess } from './metrics-access.ts'
import { RequestTimes } from './request-times.ts'

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

export function serveMetrics(app: FastifyInstance, pool: pg.Pool, access: MetricsAccess): void {
  const registry = new Registry()
  app.decorate('metrics', registry)
  const times = new RequestTimes()
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
  app.addHook('onResponse', (request, reply, next) => {
    const route = request.routeOptions.url ?? 'unknown'
    times.add(request.method, route, reply.statusCode, reply.elapsedTime / 1000)
    next()
  })

  app.get('/metrics', async (request, reply) => {
    requireMetricsAccess(access, request)
    ofProcess ??= watchProcess()
    const shared = await ofProcess
    const parts = await Promise.all([shared.metrics(), registry.metrics()])
    return reply.type(registry.contentType).send([...parts, times.toText()].join('\n'))
  })
}
