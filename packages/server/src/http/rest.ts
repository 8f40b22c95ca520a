// REST routes as endpoints: access before the body is read, then the body, then the handler.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { flushTokenCaches } from '../auth/access-watch.ts'
import type { Context } from '../context.ts'
import { ApiError, badRequest } from '../lib/errors.ts'
import { anybody, authorize, countUnrouted, reauthorize } from './access.ts'
import { sendAnswer, type Answer } from './answer.ts'
import type { Endpoint } from './endpoint.ts'
import { askForPassword } from './error-handler.ts'
import { onGone, untilGone } from './limits/gone.ts'
import { openStreams } from './limits/open-streams.ts'
import { holdRequest } from './limits/requests.ts'
import { fingerprint, once, onceOutside, readKey, type KeyedRequest } from './idempotency.ts'
import { pathOf, type RawQuery } from './query.ts'
import type { RawInput, Route } from './route.ts'
import { allowSlowBody } from './slow-bodies.ts'

export const restEndpoints = (ctx: Context, routes: readonly Route[]): Endpoint[] => [
  ...routes.map((route) => toEndpoint(ctx, route)),
  ...refusedMethods(ctx, routes),
]

const toEndpoint = (ctx: Context, route: Route): Endpoint => ({
  methods: route.methods,
  url: route.url,
  body: route.rawBody === null && !route.readsBytes ? 'json' : 'bytes',
  crossOrigin: true,
  bodyLimitBytes: route.bodyLimitBytes,
  ...(route.takesBasic ? { errorHandler: askForPassword } : {}),
  async admit(request) {
    request.access = await authorize(ctx, route, request)
    const { caller, org } = request.access
    if (caller !== null) holdRequest(request, { caller, org })
    if (route.rawBody === null) return
    allowSlowBody(request, await route.rawBody.admit(ctx, request.params as Record<string, string>))
  },
  async handle(request, reply) {
    if (route.mayFollow !== null) holdStream(ctx, request)
    const answer = await run(ctx, route, request)
    if (route.changesAccess) await flushTokenCaches(ctx.db)
    if (answer.stream !== undefined) watchStream(ctx, route, request, reply, answer)
    return sendAnswer(reply, answer)
  },
})

/** Throws 429 or 503 where there are too many. */
function holdStream(ctx: Context, request: FastifyRequest): void {
  const { caller, org } = request.access ?? anybody
  if (caller === null || org === null) throw new Error('A stream needs a caller and an organization.')
  // The client may have gone while the caller was looked up.
  onGone(request, openStreams(ctx).endless.take({ organizationId: org.id, sender: caller.user.id }))
}

/** Ends the response when its caller may no longer read it. */
function watchStream(
  ctx: Context,
  route: Route,
  request: FastifyRequest,
  { raw }: FastifyReply,
  { stream, headers }: Answer,
): void {
  const isEndless = headers?.['Content-Type']?.startsWith('text/event-stream') ?? false
  if (isEndless !== (route.mayFollow !== null)) throw new Error(`${route.url} has an undeclared stream.`)
  if (route.permission === 'anonymous') return
  const { authorization = '', cookie = '' } = request.headers
  const params = request.params as Record<string, string>
  openStreams(ctx).watch(
    {
      key: [authorization, cookie, request.ip, pathOf(request.url)].join('\n'),
      async mayGoOn() {
        const access = await reauthorize(ctx, route, request)
        if (access === null || route.mayFollow === null) return access !== null
        const { caller, org } = access
        return caller !== null && org !== null && route.mayFollow({ ctx, org, caller, params })
      },
      end() {
        stream?.unpipe(raw)
        raw.end()
      },
    },
    untilGone(request),
  )
}

async function run(ctx: Context, route: Route, request: FastifyRequest): Promise<Answer> {
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
    reauthorize: () => reauthorize(ctx, route, request),
    gone: () => untilGone(request),
  }
  const key =
    request.method === 'POST' || request.method === 'PUT' ? readKey(request.headers['idempotency-key']) : null
  if (key === null || caller === null) return route.run(input)
  const keyed: KeyedRequest = {
    key,
    caller,
    fingerprint: fingerprint(request.method, request.url, request.body),
  }
  const runOnce = route.callsOut ? onceOutside : once
  return runOnce(ctx, keyed, (inner) => route.run({ ...input, ctx: inner }))
}

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const

/** A known path answers 405 to the methods that it does not have, and names those that it has. */
function refusedMethods(ctx: Context, routes: readonly Route[]): Endpoint[] {
  const known = new Map<string, { url: string; methods: string[] }>()
  for (const { url, methods } of routes) {
    // URLs that differ only in the names of their placeholders are one path.
    const path = url.replace(/:\w+/g, ':')
    known.set(path, { url, methods: [...(known.get(path)?.methods ?? []), ...methods] })
  }
  return [...known.values()].map(({ url, methods }): Endpoint => {
    const present = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])]
    const allowed = [...present, 'OPTIONS'].join(', ')
    return {
      methods: everyMethod.filter((method) => !present.includes(method)),
      url,
      body: 'json',
      crossOrigin: true,
      async handle(request, reply) {
        await countUnrouted(ctx, request)
        void reply.header('Allow', allowed)
        throw new ApiError(405, `${request.method} is not allowed here; allowed are ${allowed}.`)
      },
    }
  })
}
