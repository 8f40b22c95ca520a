// The HTTP server: Fastify, the hooks every answer passes through, and the routes it is handed.
import { randomUUID } from 'node:crypto'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import type pg from 'pg'
import { watchAccess } from '../auth/access-watch.ts'
import type { Context } from '../context.ts'
import { commonHeaders } from './common-headers.ts'
import { serveDocs } from './docs.ts'
import { answerError } from './error-handler.ts'
import { answerHead } from './head.ts'
import { acceptJson } from './json-body.ts'
import { serveMetrics } from './metrics.ts'
import { refuse, routerOptions } from './no-route.ts'
import { pathOf } from './query.ts'
import { serveHealth } from './health.ts'
import { registerRoutes } from './register.ts'
import type { Slices } from './route.ts'
import { limitUnknownBodies } from './slow-bodies.ts'

export async function buildServer(ctx: Context, pool: pg.Pool, slices: Slices): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = ctx.log
  const app = fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines carry the request's id where it is of use; a logger for each request costs more than writing its line.
    childLoggerFactory: (logger) => logger,
    genReqId: (request) => requestId(request.headers['x-request-id']),
    trustProxy: ctx.config.trustedProxies.length > 0 ? [...ctx.config.trustedProxies] : false,
    // Go clients keep idle connections for 90 s; a server that closes earlier makes them fail at random.
    keepAliveTimeout: 95_000,
    http: { headersTimeout: 100_000 },
    // As long as an artifact may take to come in over a slow line. slow-bodies.ts gives strangers less.
    requestTimeout: 3_600_000,
    bodyLimit: 1024 * 1024,
    forceCloseConnections: 'idle',
    routerOptions,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    // A URL that cannot be read reaches neither the hooks nor the error handler by itself.
    frameworkErrors: (error, request, reply) => {
      setCommonHeaders(request, reply)
      answerError(error, request, reply)
    },
  })
  app.decorate('lifecycle', { isStopping: false })
  app.setErrorHandler(answerError)
  const routes = Object.values(slices).flat()
  app.decorate('noRoute', { answerBrowser: null })
  app.setNotFoundHandler(refuse(ctx, routes, app.noRoute))
  app.setSerializerCompiler(() => JSON.stringify)
  limitUnknownBodies(app, ctx.config.unknownBodies)
  acceptJson(app)
  addCommonHeaders(app)
  answerHead(app)
  answerOptions(app)
  logRequests(app)
  serveMetrics(app, pool, { host: ctx.config.host, token: ctx.config.secrets.metricsToken })
  serveHealth(app, pool)
  const watch = await watchAccess(pool, ctx.tokens, (error) =>
    ctx.log.warn(
      { err: error },
      'Lost the connection that hears of changed access; tokens are asked for each time.',
    ),
  )
  app.addHook('onClose', watch.stop)
  registerRoutes(app, ctx, routes)
  await serveDocs(app, ctx.config.url, slices)
  return app
}

function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given) ? given : randomUUID()
}

/** Whoever answers without the framework writes them too (register.ts). */
function addCommonHeaders(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, _payload, next) => {
    setCommonHeaders(request, reply)
    next()
  })
}

function setCommonHeaders(request: FastifyRequest, reply: FastifyReply): void {
  const headers = commonHeaders(request)
  for (let at = 0; at < headers.length; at += 2) void reply.header(headers[at] ?? '', headers[at + 1])
}

function answerOptions(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    if (request.method !== 'OPTIONS') return next()
    void reply.headers({
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, X-Request-Id',
      'Access-Control-Max-Age': '86400',
    })
    void reply.code(204).send()
  })
}

/**
 * One line per request. The path is logged without its query, and no header is: neither may leak a secret. Where the
 * path itself is one, only its beginning is logged.
 */
function logRequests(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, next) => {
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
      },
      'Answered a request.',
    )
    next()
  })
}

function pathToLog(url: string): string {
  const path = pathOf(url)
  const secret = secretPaths.find((beginning) => path.startsWith(beginning))
  return secret === undefined ? path : `${secret}…`
}

const secretPaths = ['/deliver/', '/badges/']
