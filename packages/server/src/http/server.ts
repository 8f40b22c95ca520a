// The HTTP server without its routes: Fastify's options, and the hooks that every request passes.
import { randomUUID } from 'node:crypto'
import fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { allOf, watchAccess } from '../auth/access-watch.ts'
import type { Context } from '../context.ts'
import type { Database } from '../db/pool.ts'
import type { Holdings } from '../lib/holdings.ts'
import { commonHeaders } from './common-headers.ts'
import { compressJson } from './compress.ts'
import { readBodies } from './endpoint.ts'
import { answerError } from './error-handler.ts'
import { measureRequests } from './metrics.ts'
import { pathOf } from './query.ts'
import { serveHealth } from './health.ts'
import { agentRequests } from './limits/agent-requests.ts'
import { limitConnections } from './limits/connections.ts'
import { noteResponses } from './limits/gone.ts'
import { openStreams } from './limits/open-streams.ts'
import { limitRequests } from './limits/requests.ts'
import { limitBodies } from './slow-bodies.ts'
import { signalWork } from './signal-work.ts'
import { traceRequests } from './trace-requests.ts'
import { answerUnreadable } from './unreadable-request.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What callers hold, by name. */
    holdings: Readonly<Record<string, Holdings>>
  }
}

export async function buildServer(ctx: Context, database: Database): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = ctx.log
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // Our lines carry the request's id in a field of their own.
    childLoggerFactory: (logger) => logger,
    genReqId: (request) => requestId(request.headers['x-request-id']),
    trustProxy: ctx.config.trustedProxies.length > 0 ? [...ctx.config.trustedProxies] : false,
    // Go clients keep idle connections for 90 s. If the server closed them earlier, requests would fail at random.
    keepAliveTimeout: 95_000,
    // Also the time until the first request on a new connection.
    http: { headersTimeout: 30_000, connectionsCheckingInterval: 5000 },
    // The upload of an artifact may take this long, if it keeps the pace that slow-bodies.ts demands.
    requestTimeout: 3_600_000,
    bodyLimit: 1024 * 1024,
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    return503OnClosing: false,
    clientErrorHandler: answerUnreadable,
    // Fastify answers an unreadable URL without calling the hooks or the error handler.
    frameworkErrors: (error, request, reply) => {
      void reply.headers(commonHeaders(request))
      answerError(error, request, reply)
    },
  })
  app.decorateRequest('span', null)
  if (ctx.tracer !== null) traceRequests(app, ctx.tracer)
  // A socket forgets the address of a client that has gone, unless it was read before. Limits, allowed ranges and audit events
  // need it until the request ends.
  app.server.on('connection', (socket) => {
    if (socket.remoteAddress === undefined) socket.destroy()
  })
  app.decorate('lifecycle', { isStopping: false })
  app.setErrorHandler(answerError)
  app.decorateRequest('access', null)
  app.decorateRequest('spent', null)
  app.decorateRequest('hasSession', false)
  noteResponses(app)
  limitConnections(app, ctx.config.mostConnections)
  const requests = limitRequests(app, ctx.config.requests)
  const bodies = limitBodies(app, ctx.config)
  readBodies(app)
  app.addHook('onSend', async (request, reply) => void reply.headers(commonHeaders(request)))
  compressJson(app)
  answerOptions(app)
  logRequests(app)
  measureRequests(app, ctx.metrics)
  signalWork(app, ctx.db)
  serveHealth(app, database.pool)
  const streams = openStreams(ctx)
  app.decorate('holdings', {
    requests,
    agent_requests: agentRequests(ctx),
    bodies,
    streams: streams.endless,
  })
  app.addHook('preClose', async () => streams.stop())
  const streamsToCheck = { clear: () => streams.checkNow(), onLookup: () => {}, trustUntil: () => {} }
  const watch = await watchAccess(database.direct, allOf(ctx.tokens, ctx.sessions, streamsToCheck), (error) =>
    ctx.log.warn(
      { err: error },
      'Lost the connection that is notified of changed access; tokens are not cached until it is back.',
    ),
  )
  app.addHook('onClose', watch.stop)
  return app
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID()
}

function answerOptions(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'OPTIONS') return undefined
    void reply.headers({
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
      'Access-Control-Max-Age': '86400',
    })
    return reply.code(204).send()
  })
}

/** One line per request. Headers, the query and the secret part of a path are not logged. */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const { access } = request
    request.log.info(
      {
        request_id: request.id,
        method: request.method,
        path: pathToLog(request.url),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        ip: request.ip,
        user_id: access?.caller?.user.id,
        organization: access?.org?.slug,
        trace_id: request.span?.spanContext().traceId,
      },
      'Answered a request.',
    )
  })
}

function pathToLog(url: string): string {
  const path = pathOf(url)
  const secret = secretPaths.find((beginning) => path.startsWith(beginning))
  return secret === undefined ? path : `${secret}…`
}

const secretPaths = ['/deliver/', '/badges/', '/-/invitations/']
