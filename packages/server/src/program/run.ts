// A server or worker process: opens its database, starts the parts of its roles, and stops them in the reverse order.
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type pg from 'pg'
import type { Logger } from 'pino'
import { hasOrganization, readSecretKeys, type FirstOrganization } from '../bootstrap.ts'
import type { Config } from '../config/config.ts'
import type { Role } from '../config/process.ts'
import { createContext, type Context } from '../context.ts'
import { followDatabaseClock } from '../db/clock.ts'
import { findHolder } from '../db/embedded/data-lock.ts'
import { errorCode, StartupError } from '../db/embedded/startup-error.ts'
import { makePartitions } from '../db/partitions.ts'
import type { Database, Db, Pool } from '../db/pool.ts'
import type { HostedSettings } from '../config/hosted.ts'
import type { HostedDriver } from '../hosted/driver.ts'
import { openHosted } from '../hosted/open.ts'
import { closer, type Closer } from '../http/close.ts'
import { newId } from '../lib/ids.ts'
import type { Tracer } from '../lib/tracing.ts'
import type { JobSeparation } from './agent-program.ts'
import { localAgentToken, loseLocalAgents } from './local-agents.ts'
import { openLog } from './log.ts'
import { migrateOrRefuse, openOwnDatabase, type OwnDatabase } from './own-database.ts'
import { useSealingKeys } from './sealing-keys.ts'
import { within } from './within.ts'

export interface Started {
  url: string
  roles: Role[]
  /** How the database runs; follows the word "PostgreSQL" in a sentence. */
  database: string
  data_dir: string
  /** Created by this start, because the database was empty. */
  first: FirstOrganization | null
  /** There is no organization yet, so no user can sign in. */
  empty: boolean
}

export interface Audience {
  /** Called once, when the process answers requests and works on tasks. */
  started(started: Started): void
  /** Gets whole sentences about slow steps and repairs. */
  say(sentence: string): void
}

type Close = () => Promise<unknown>

// A stop ends within 10 s after the drain: requests and tasks get half of that, the database most of the rest.
const finishMs = 5000
const stopMs = 9500
/** A collector that does not answer must not delay the stop. */
const lastSpansMs = 1000

export async function run(
  given: Config,
  audience: Audience,
  createFirst: (db: Db) => Promise<FirstOrganization | null>,
): Promise<void> {
  const signals = catchSignals(given.drainSeconds * 1000)
  const closing: Close[] = []
  let server: Closer | null = null
  let monitor: Closer | null = null
  const roles = given.roles.filter((role) => role !== 'agent')
  try {
    if (roles.length === 0) throw new StartupError('MILLRACE_ROLES leaves nothing to run: add api or worker.')
    const { config, release } = roles.includes('api')
      ? await findPort(given)
      : { config: given, release: null }
    const metrics = (await import('../lib/metrics.ts')).createMetrics()
    const log = openLog(config.logLevel)
    const tracer = config.traces === null ? null : await openTracer(config.traces, config, log)
    if (tracer !== null) closing.push(() => within(lastSpansMs, tracer.stop))
    const database = await openOwnDatabase(config, audience.say, {
      onWaited: (pool, seconds) => metrics.connectionWaits.observe({ pool }, seconds),
      tracer,
    })
    closing.push(database.close)
    signals.refuse()
    const secretKeys = readSecretKeys(config.dataDir, config.secrets.keys)
    await migrateOrRefuse(database.direct)
    await useSealingKeys(database.db, secretKeys)
    if (secretKeys.length > 1)
      audience.say(`MILLRACE_SECRET_KEY holds ${secretKeys.length} keys: a comma separates keys.`)
    signals.refuse()
    const { db, pool, direct } = database
    database.outage.reportTo(log)
    const hosted = config.hosted === null ? null : await openHostedFor(config.hosted, db, roles, log)
    if (hosted !== null) closing.push(hosted.close)
    const clock = await followDatabaseClock(pool)
    closing.push(clock.stop)
    await makePartitions(db, clock.now(), log)
    const ctx = createContext({
      config,
      db,
      direct,
      log,
      secretKeys,
      hosted,
      metrics,
      tracer,
      now: clock.now,
      startedAt: clock.startedAt(),
    })
    closing.push(ctx.tokenUse.flush, ctx.sessionUse.flush, ctx.agentActivity.flush, ctx.outbound.close)
    const separating = hasLocalAgents(given) ? separateLocalJobs(config, database, audience) : null
    // A start that fails before it awaits this reports its own error.
    separating?.catch(() => {})
    const services: Close[] = []
    closing.push(() => Promise.all(services.map((stop) => stop())))
    if (roles.includes('worker')) services.push(await startTasks(ctx, database.slow))
    else await (await import('../tasks/run.ts')).migrateTasks(direct, log)
    if (config.metrics.listen !== null) {
      monitor = await listenForMonitoring(ctx, database, config.metrics.listen)
      services.push(monitor.close)
    }
    const app = roles.includes('api') ? await buildApi(ctx, database) : null
    signals.refuse()
    // Late, because its token is shown only if the start succeeds, but before the first request.
    const first = await createFirst(database.db)
    if (app !== null) {
      await release?.()
      server = await listen(app, config)
      services.push(server.close)
    }
    // Last to start and first to stop, because a job reports its end to the server.
    const agents =
      app === null || separating === null ? null : await startLocalAgents(ctx, separating, audience)
    if (agents !== null) closing.push(agents)
    audience.started({
      url: config.url,
      roles,
      database: database.how,
      data_dir: config.dataDir,
      first,
      empty: first === null && !(await hasOrganization(database.db)),
    })
    await Promise.race([signals.received, database.lost])
  } catch (error) {
    // Ctrl-C reaches initdb as well, so a start may fail because it was stopped.
    if (!signals.isReceived()) throw error
  } finally {
    if (server !== null && signals.isTermination()) {
      const drainMs = given.drainSeconds * 1000
      await Promise.all([server.drain(drainMs), monitor?.drain(drainMs)])
    }
    for (const close of closing.toReversed()) await within(finishMs, close)
    signals.ignore()
  }
}

/** The terminal sends Ctrl-C to this process, and npm passes it on: two signals that count as one. */
const sameSignalMs = 1000

function catchSignals(drainMs: number) {
  const names = ['SIGINT', 'SIGTERM'] as const
  const events = new EventEmitter()
  let receivedAt: number | null = null
  let isTermination = false
  const receive = (name: NodeJS.Signals) => {
    if (receivedAt === null) {
      receivedAt = Date.now()
      isTermination = name === 'SIGTERM'
      setTimeout(() => process.exit(1), stopMs + (isTermination ? drainMs : 0)).unref()
      events.emit('received')
    } else if (Date.now() - receivedAt > sameSignalMs) process.exit(1)
  }
  const received = once(events, 'received')
  for (const name of names) process.on(name, receive)
  return {
    received,
    isReceived: () => receivedAt !== null,
    /** Supervisors send SIGTERM and allow a drain; a person at a terminal sends SIGINT and does not wait. */
    isTermination: () => isTermination,
    /** Ends a start that was stopped meanwhile. */
    refuse: () => {
      if (receivedAt !== null) throw new StartupError('Stopped before it had started.')
    },
    ignore: () => names.forEach((name) => process.off(name, receive)),
  }
}

// Imported late, because administrative commands load this file too and are three times as fast without the rest.

async function openTracer(
  { url, sample, resource }: NonNullable<Config['traces']>,
  { secrets, roles }: Config,
  log: Logger,
): Promise<Tracer> {
  const [{ otlpTracer }, { readVersion }] = await Promise.all([
    import('../lib/otlp-tracer.ts'),
    import('../db/migrate.ts'),
  ])
  const settings = {
    url,
    sample,
    headers: secrets.traceHeaders,
    resource: {
      'service.name': 'millrace',
      'service.version': await readVersion(),
      'service.instance.id': newId(),
      'millrace.roles': roles.join(','),
      ...resource,
    },
  }
  return otlpTracer(settings, (reason) =>
    reason === null
      ? log.warn('Traces are sent again.')
      : log.warn({ reason }, 'Traces could not be sent; those of this time are lost.'),
  )
}

async function buildApi(ctx: Context, database: Database): Promise<FastifyInstance> {
  const { buildApp } = await import('../app.ts')
  return buildApp(ctx, database)
}

async function startTasks(requestContext: Context, { db, direct }: Pool): Promise<Close> {
  const ctx = { ...requestContext, db }
  const [worker, { runTasks }, { startPollers }] = await Promise.all([
    import('../worker.ts'),
    import('../tasks/run.ts'),
    import('../tasks/pollers.ts'),
  ])
  await worker.reconcileAtStart(ctx)
  const pauses = worker.startWorkerPauses(ctx)
  const tasks = await runTasks(direct, ctx.log, ctx, worker.handlers, {
    around: worker.aroundTasks(ctx),
    pauses,
    wakingChannels: worker.wakingChannels,
  })
  const polling = startPollers(ctx.log, ctx.db, ctx, worker.neededPollers(ctx), {
    around: worker.aroundPollers(ctx),
    pauses,
  })
  const notifications = worker.startNotifications(ctx, pauses)
  const hostedAgents = ctx.hosted === null ? null : await startHostedAgents(ctx, direct)
  return async () => {
    await Promise.all([tasks.stop(), polling.stop(), notifications.stop(), hostedAgents?.stop()])
    await pauses.stop()
  }
}

/** Only a worker starts containers, so only a worker loads the runner. */
async function openHostedFor(
  settings: HostedSettings,
  db: Db,
  roles: readonly Role[],
  log: Logger,
): Promise<HostedDriver> {
  const { loadRunner } = await import('../hosted/runner.ts')
  const runner = roles.includes('worker') ? await loadRunner() : null
  return openHosted(db, settings, runner, (err, message) => log.warn({ err }, message))
}

async function startHostedAgents(ctx: Context, pool: pg.Pool): Promise<{ stop: Close }> {
  const { runHostedAgents } = await import('../hosted-agents/control-loop.ts')
  return runHostedAgents(ctx, pool)
}

const hasLocalAgents = ({ roles, localAgents }: Config): boolean =>
  roles.includes('api') && roles.includes('agent') && localAgents > 0

/** Tries sandboxes in other processes, so it runs while this one loads the API. */
async function separateLocalJobs(
  config: Config,
  { folders }: OwnDatabase,
  { say }: Audience,
): Promise<JobSeparation> {
  const { separateJobs } = await import('./job-separation.ts')
  return separateJobs(config, folders, say)
}

async function startLocalAgents(
  ctx: Context,
  separating: Promise<JobSeparation>,
  { say }: Audience,
): Promise<Close | null> {
  const { config } = ctx
  const token = await localAgentToken(ctx, config.organizationSlug)
  if (token === null) return null
  const isAlone = config.database.kind === 'embedded'
  if (isAlone) await loseLocalAgents(ctx, token)
  const host = config.host === '0.0.0.0' ? '127.0.0.1' : config.host === '::' ? '::1' : config.host
  const endpoint = `http://${host.includes(':') ? `[${host}]` : host}:${config.port}/v3`
  const { startAgentProcess } = await import('./local-agent-process.ts')
  const separation = await separating
  const { socketsPath, jobs } = separation
  const start = { endpoint, token, count: config.localAgents, isAlone, socketsPath, jobs }
  return startAgentProcess(separation, start, say)
}

async function listen(app: FastifyInstance, config: Config): Promise<Closer> {
  const closing = closer(app, finishMs)
  await app.listen({ host: config.host, port: config.port }).catch(refusePort(config))
  const also = otherLoopback(config)
  const closeOther = also === null ? null : await listenAlso(app, { ...config, host: also })
  if (closeOther === null) return closing
  return { ...closing, close: () => closeOther(closing.close) }
}

/**
 * `localhost` leads to ::1 as well as 127.0.0.1, and browsers try ::1 first. A job that listened there, on our port, would be the
 * origin of our pages and read their page secret. null: `localhost` is not our address, or nothing else can be.
 */
function otherLoopback({ url, host, port }: Config): string | null {
  const isLocalhost = new URL(url).host === `localhost:${port}` && url.startsWith('http:')
  if (!isLocalhost) return null
  if (host === '::1') return '127.0.0.1'
  return host === '127.0.0.1' || host === '0.0.0.0' ? '::1' : null
}

/** Returns a function that stops that too. null: this machine has no such address. */
async function listenAlso(
  app: FastifyInstance,
  config: Config,
): Promise<((closeApp: Close) => Promise<void>) | null> {
  const other = createServer((socket) => void app.server.emit('connection', socket))
  other.listen({ host: config.host, port: config.port })
  try {
    await once(other, 'listening')
  } catch (error) {
    if (['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(errorCode(error))) return null
    return refusePort(config)(error)
  }
  return async (closeApp) => {
    const ended = new Promise<void>((resolve) => void other.close(() => resolve()))
    await closeApp()
    app.server.closeIdleConnections()
    await ended
  }
}

async function listenForMonitoring(
  ctx: Context,
  database: Database,
  { host, port }: { host: string; port: number },
): Promise<Closer> {
  const { buildMonitoringServer } = await import('../monitoring.ts')
  const app = buildMonitoringServer(ctx, database, host)
  const closing = closer(app, finishMs)
  await app.listen({ host, port }).catch((error: unknown) => {
    throw new StartupError(
      `MILLRACE_METRICS_LISTEN ${host}:${port} cannot be listened on (${errorCode(error) || String(error)}): ` +
        'choose an address of this machine and a port that is free.',
    )
  })
  return closing
}

/**
 * Checks that the port is free before anything is created. For port 0 it chooses a port and holds it until `release`, because the
 * system gives free ports to outgoing connections.
 */
async function findPort(config: Config): Promise<{ config: Config; release: Close | null }> {
  // The process that holds the data directory most likely holds the port too, and its lock names that process.
  if (config.database.kind === 'embedded' && findHolder(config.dataDir) !== undefined)
    return { config, release: null }
  // A connection that stays open would delay `release`.
  const probe = createServer((socket) => socket.destroy()).unref()
  probe.listen({ host: config.host, port: config.port })
  await once(probe, 'listening').catch(refusePort(config))
  const address = probe.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.port
  const release = () => new Promise<void>((closed) => void probe.close(() => closed()))
  if (config.port !== 0) await release()
  const hosted = config.hosted && {
    ...config.hosted,
    endpoint: config.hosted.endpoint.replace(/:0\/v3$/, `:${port}/v3`),
    allowed: config.hosted.allowed?.map((address) => address.replace(/:0$/, `:${port}`)) ?? null,
  }
  const url = config.url.replace(/:0$/, `:${port}`)
  return { config: { ...config, port, url, hosted }, release: config.port === 0 ? release : null }
}

const refusePort =
  ({ host, port }: Config) =>
  (error: unknown): never => {
    const code = errorCode(error)
    if (code === 'EADDRINUSE') {
      throw new StartupError(
        `Port ${port} of ${host} is in use by another program: stop that program, or set PORT to a free port.`,
      )
    }
    if (code === 'EACCES') {
      throw new StartupError(
        `Port ${port} of ${host} is not open to this user: set PORT to 1024 or above, or start as root.`,
      )
    }
    throw new StartupError(
      `HOST ${host} cannot be listened on (${code || String(error)}): set HOST to 127.0.0.1, or to 0.0.0.0 for all addresses.`,
    )
  }
