// Prometheus metrics, for an operator's monitoring.
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Database, PoolName } from '../db/pool.ts'
import type { Metrics } from '../lib/metrics.ts'
import { requireMetricsAccess, type MetricsAccess } from './metrics-access.ts'

let processMetrics: Promise<Registry> | undefined

const firstSampleMs = 50

/**
 * Memory, processor time and garbage collection of the process. Collecting wakes the process a hundred times a second and
 * cannot be stopped, so it starts with the first request for metrics, which waits for the first sample.
 */
export function collectProcessMetrics(): Promise<Registry> {
  const start = async () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    await delay(firstSampleMs)
    return registry
  }
  return (processMetrics ??= start())
}

/** The text of all metrics of this process. */
type ReadMetrics = () => Promise<string>

export function serveMetrics(app: FastifyInstance, access: MetricsAccess, read: ReadMetrics): void {
  app.get('/metrics', async (request, reply) => {
    requireMetricsAccess(access, request)
    return reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await read())
  })
}

export function measureRequests(app: FastifyInstance, { httpRequests }: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'unknown',
      status: reply.statusCode,
    }
    httpRequests.observe(labels, reply.elapsedTime / 1000)
  })
}

export function measureHoldings({ registry }: Metrics, { holdings }: FastifyInstance): void {
  const registers = [registry]
  const held = new Gauge({
    name: 'millrace_held',
    help: 'Requests under way, bodies on their way and streams open in this process.',
    labelNames: ['what'],
    registers,
    collect() {
      for (const [what, one] of Object.entries(holdings)) held.set({ what }, one.held)
    },
  })
  const refused = new Counter({
    name: 'millrace_held_refused_total',
    help: 'How many more were refused, because a sender, an organization or all together had too many.',
    labelNames: ['what'],
    registers,
    collect() {
      refused.reset()
      for (const [what, one] of Object.entries(holdings)) refused.inc({ what }, one.refused)
    },
  })
}

export function measureDatabase({ registry }: Metrics, { pool, slow, direct, outage }: Database): void {
  const registers = [registry]
  const pools: Array<[PoolName | 'direct', pg.Pool]> = [
    ['requests', pool],
    ['background', slow.pool],
  ]
  // Otherwise there is no pooler to bypass.
  if (direct !== pool) pools.push(['direct', direct])
  const connections = new Gauge({
    name: 'millrace_database_connections',
    help: 'Connections of a pool: open ones, and those of them that are idle.',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [name, { totalCount, idleCount }] of pools) {
        connections.set({ pool: name, state: 'open' }, totalCount)
        connections.set({ pool: name, state: 'idle' }, idleCount)
      }
    },
  })
  const limit = new Gauge({
    name: 'millrace_database_connections_limit',
    help: 'The most connections that a pool opens.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [name, { options }] of pools) limit.set({ pool: name }, options.max)
    },
  })
  const waiting = new Gauge({
    name: 'millrace_database_callers_waiting',
    help: 'Callers that wait for a connection of a pool.',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [name, { waitingCount }] of pools) waiting.set({ pool: name }, waitingCount)
    },
  })
  const available = new Gauge({
    name: 'millrace_database_available',
    help: '0 while the database cannot be used, else 1.',
    registers,
    collect() {
      available.set(outage.isAway ? 0 : 1)
    },
  })
  const outages = new Counter({
    name: 'millrace_database_outages_total',
    help: 'How often the database became unavailable.',
    registers,
    collect() {
      outages.reset()
      outages.inc(outage.count)
    },
  })
}
