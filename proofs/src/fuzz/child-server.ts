// The server under test, with its worker. It adds the route of each request to the answer, and records how long the event loop
// was held and by which requests.
import { existsSync, readFileSync } from 'node:fs'
import { buildApp } from '@millrace/server/app.ts'
import { readConfig } from '@millrace/server/config/config.ts'
import { createContext } from '@millrace/server/context.ts'
import { openDatabase } from '@millrace/server/db/pool.ts'
import { createMetrics } from '@millrace/server/lib/metrics.ts'
import { runHostedAgents } from '@millrace/server/hosted-agents/control-loop.ts'
import { openLog } from '@millrace/server/program/log.ts'
import { startPollers } from '@millrace/server/tasks/pollers.ts'
import { runTasks } from '@millrace/server/tasks/run.ts'
import * as worker from '@millrace/server/worker.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { send } from '../../../testbed/dist/children.js'
import { mostMegabytes } from '../../../testbed/dist/peak-memory.js'
import { quietEngine } from './quiet-engine.ts'

export interface Health {
  /** Pauses of the event loop, with the requests that were answered in or after them. */
  pauses: Array<{ ms: number; requests: string[] }>
  heapMiB: number
  mostMiB: number
}

const read = readConfig(process.env)
if (!read.ok) throw new Error(read.problems.join(' '))
const database = openDatabase(process.env['DATABASE_URL'] ?? '')
const log = openLog('info', process.env['FUZZ_LOG'] ?? '/dev/null')
const ctx = createContext({
  config: read.config,
  db: database.db,
  direct: database.direct,
  log,
  secretKeys: ['x'.repeat(32)],
  hosted: quietEngine,
  metrics: createMetrics(),
})

const app = await buildApp(ctx, database)
const underWay = new Set<string>()
app.addHook('onRequest', (request: FastifyRequest, _reply: FastifyReply, next: () => void) => {
  underWay.add(`${request.id} ${request.method} ${request.routeOptions.url}`)
  next()
})
app.addHook('onSend', async (request, reply) => {
  void reply.header('x-route', request.routeOptions.url ?? 'none')
})
const answered: string[] = []
app.addHook('onResponse', async (request) => {
  const name = `${request.id} ${request.method} ${request.routeOptions.url}`
  underWay.delete(name)
  answered.push(name)
})

const { slow } = database
const work = { ...ctx, db: slow.db }
await runTasks(slow.direct, log, work, worker.handlers, { around: worker.aroundTasks(work) })
startPollers(log, slow.db, work, worker.pollers, { around: worker.aroundPollers(work) })
worker.startNotifications(work)
await runHostedAgents(work, slow.direct)
send(await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) }))

const pauses: Health['pauses'] = []
const shortestPauseMs = 100
const usedMs = existsSync('/proc/thread-self/schedstat')
  ? () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ', 1)[0]) / 1e6
  : () => performance.now()
let before = usedMs()
let beforeClock = performance.now()
const turns: number[] = []

// CPU time, because on a busy machine the process also waits for a processor. The kernel updates it late, so a pause is never
// longer than the longest of the last turns by the clock.
setInterval(() => {
  const [now, clock] = [usedMs(), performance.now()]
  turns.push(clock - beforeClock)
  if (turns.length > 10) turns.shift()
  const ms = Math.min(now - before, Math.max(...turns))
  if (ms > shortestPauseMs)
    pauses.push({ ms: Math.round(ms), requests: [...underWay, ...answered.slice(-10)] })
  answered.length = 0
  before = now
  beforeClock = clock
}, 2)

process.on('message', () => {
  global.gc?.()
  const health: Health = {
    pauses: pauses.splice(0),
    heapMiB: Math.round(process.memoryUsage().heapUsed / 2 ** 20),
    mostMiB: Math.round(mostMegabytes()),
  }
  send(health)
})
process.on('SIGTERM', () => process.exit(0))
// Ctrl-C reaches this process too; the sender of the requests decides when it ends.
process.on('SIGINT', () => {})
