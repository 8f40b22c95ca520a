// Puts routes on the server: access before the body is read, then the body, then the handler.
import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { settleAccess } from '../auth/access-watch.ts'
import type { Spent } from '../auth/rate-limits.ts'
import type { Context } from '../context.ts'
import { badRequest } from '../lib/errors.ts'
import { after, type Soon } from '../lib/soon.ts'
import { anybody, authorize, type Access } from './access.ts'
import type { Answer } from './answer.ts'
import { commonHeaders } from './common-headers.ts'
import { fingerprint, once, onceOutside, readKey, type KeyedRequest } from './idempotency.ts'
import { pathOf, type RawQuery } from './query.ts'
import type { RawInput, Route } from './route.ts'
import { allowSlowBody } from './slow-bodies.ts'

declare module 'fastify' {
  interface FastifyRequest {
    access: Access | null
    /** What the answer is to tell of the caller's rate limits, whatever it is. */
    spent: Spent | null
  }
  interface FastifyContextConfig {
    rawBody?: boolean
  }
}

export function registerRoutes(app: FastifyInstance, ctx: Context, routes: readonly Route[]): void {
  app.decorateRequest('access', null)
  app.decorateRequest('spent', null)
  for (const route of routes) {
    app.route({
      method: [...route.methods],
      url: route.url,
      bodyLimit: route.bodyLimitBytes,
      config: { rawBody: route.rawBody !== null },
      onRequest: (request, _reply, done) => {
        const entering = enter(ctx, route, request)
        // The framework waits for a promise, or to be called.
        return entering instanceof Promise ? entering : done()
      },
      handler: async (request, reply) => {
        const made = await answer(ctx, route, request)
        if (route.changesAccess) await settleAccess(ctx.db)
        return send(request, reply, made)
      },
    })
  }
}

function enter(ctx: Context, route: Route, request: FastifyRequest): Soon<void> {
  const authorizing = authorize(ctx, route, request, (spent) => (request.spent = spent))
  return after(authorizing, (access) => {
    request.access = access
    if (access.caller !== null) allowSlowBody(request)
    const { rawBody } = route
    if (rawBody === null) return undefined
    return after(rawBody.admit(ctx, request.params as Record<string, string>), () => allowSlowBody(request))
  })
}

function answer(ctx: Context, route: Route, request: FastifyRequest): Promise<Answer> {
  if (request.url.includes('%00')) throw badRequest('The URL contains a NUL character.')
  const { caller, org, pipelineId } = request.access ?? anybody
  const input: RawInput = {
    ctx,
    method: request.method,
    url: { base: ctx.config.url, path: pathOf(request.url), query: request.query as RawQuery },
    headers: request.headers,
    params: request.params as Record<string, string>,
    body: request.body,
    caller,
    org,
    pipelineId,
  }
  const key =
    request.method === 'POST' || request.method === 'PUT' ? readKey(request.headers['idempotency-key']) : null
  if (key === null || caller === null) return route.run(input)
  const keyed: KeyedRequest = {
    key,
    caller,
    fingerprint: fingerprint(request.method, request.url, request.body),
  }
  return route.callsOut
    ? onceOutside(ctx, keyed, () => route.run(input))
    : once(ctx, keyed, (inner) => route.run({ ...input, ctx: inner }))
}

async function send(request: FastifyRequest, reply: FastifyReply, made: Answer): Promise<FastifyReply> {
  const { status, body, json, stream, headers } = made
  const hasType = headers?.['Content-Type'] !== undefined
  if (stream === undefined && !hasType && (json ?? body) !== undefined)
    return write(request, reply, status, json ?? (await writeJson(body)), headers)
  void reply.code(status)
  const written = json ?? stream
  if (written !== undefined) void reply.type(jsonType)
  if (headers !== undefined) void reply.headers(headers)
  return reply.send(written ?? body)
}

const longestTurnMs = 15

/** A page of rows may be many megabytes, so other requests get a turn between rows that take long to write. */
async function writeJson(body: unknown): Promise<string> {
  if (!Array.isArray(body) || body.length < 2) return JSON.stringify(body)
  const rows: string[] = []
  let turnMs = performance.now()
  for (const row of body) {
    rows.push(JSON.stringify(row) ?? 'null')
    if (performance.now() - turnMs < longestTurnMs) continue
    await setImmediate()
    turnMs = performance.now()
  }
  return `[${rows.join(',')}]`
}

const jsonType = 'application/json; charset=utf-8'

/** Past the framework, whose way of setting headers one by one takes a tenth of the time of a small answer. */
function write(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  text: string | Buffer,
  headers: Answer['headers'],
): FastifyReply {
  const head = commonHeaders(request)
  head.push('content-type', jsonType, 'content-length', String(Buffer.byteLength(text)))
  if (headers !== undefined) head.push(...Object.entries(headers).flat())
  reply.raw.writeHead(status, head)
  reply.hijack().raw.end(text)
  return reply
}
