// The Model Context Protocol at /mcp, over streamable HTTP without sessions: any replica answers any request. Tools call REST
// routes with the caller's token, so they have the access rules, rate limits and audit events of REST.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../auth/caller.ts'
import type { Context } from '../context.ts'
import { authorizeToken, type Rule } from '../http/access.ts'
import { routeTable, type RouteTable } from '../http/call-route.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { toApiError } from '../http/error-handler.ts'
import { holdRequest } from '../http/limits/requests.ts'
import type { Route } from '../http/route.ts'
import { ApiError, forbidden } from '../lib/errors.ts'
import { challenge, metadataEndpoints } from './authorization.ts'
import { buildTools } from './build-tools.ts'
import { jobTools } from './job-tools.ts'
import { testTools } from './test-tools.ts'
import { addressRoutes } from './addresses.ts'
import { deskOf, getRoute, type Tool } from './tool.ts'

const tools: readonly Tool[] = [...buildTools, ...jobTools, ...testTools]
const url = '/mcp'
const rule: Rule = { url, scope: 'none', permission: 'token', feature: null, params: {} }

export function mcpEndpoints(ctx: Context, restRoutes: readonly Route[]): Endpoint[] {
  const routes = routeTable(restRoutes)
  // A tool that names a missing route fails when the server starts, not when it is called.
  for (const name of [...addressRoutes, ...tools.flatMap((tool) => tool.routes)]) getRoute(routes, name)
  return [
    ...metadataEndpoints(ctx.config.url, url, scopesOf(routes, false)),
    {
      methods: ['POST'],
      url,
      body: 'json',
      async onSend(request, reply) {
        if (reply.statusCode !== 401) return
        const scopes = scopesOf(routes, wantsToWrite(request))
        void reply.header('WWW-Authenticate', challenge(ctx.config.url, url, scopes))
      },
      async admit(request) {
        refuseOtherOrigins(ctx, request)
        const access = await authorizeToken(ctx, rule, request)
        request.access = access
        holdRequest(request, access)
      },
      handle: (request, reply) => answer(ctx, routes, request, reply),
    },
    {
      methods: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'],
      url,
      body: 'json',
      async handle(request, reply) {
        void reply.header('Allow', 'POST, OPTIONS')
        throw new ApiError(
          405,
          `${request.method} is not allowed here: there are no sessions and no streams. Use POST.`,
        )
      },
    },
  ]
}

/** A page of another site could reach a server in the visitor's network by a name that it controls. */
function refuseOtherOrigins(ctx: Context, { headers }: FastifyRequest): void {
  const { origin } = headers
  if (origin !== undefined && origin !== new URL(ctx.config.url).origin)
    throw forbidden('Pages of other origins may not use /mcp. Programs send no Origin header.')
}

/** A client asks for tools that write by `?tools=write` or a header, since many tokens have more scopes than it needs. */
function wantsToWrite({ query, headers }: FastifyRequest): boolean {
  const given = (query as Record<string, unknown>)['tools'] ?? headers['x-millrace-tools']
  return given === 'write'
}

/** The scopes that all tools need, or all tools that only read. */
function scopesOf(routes: RouteTable, mayWrite: boolean): string[] {
  const offered = tools.filter((tool) => mayWrite || !tool.writes)
  const names = [...addressRoutes, ...offered.flatMap((tool) => tool.routes)]
  const needed = names.map((name) => getRoute(routes, name).scope).filter((scope) => scope !== 'none')
  return [...new Set(needed)].toSorted()
}

/** The tools whose routes the token's scopes allow. */
function toolsFor(routes: RouteTable, request: FastifyRequest, { token }: Caller): Tool[] {
  const mayWrite = wantsToWrite(request)
  return tools.filter(
    (tool) =>
      (mayWrite || !tool.writes) &&
      tool.routes.every((name) => {
        const { scope } = getRoute(routes, name)
        return scope === 'none' || token.scopes.includes(scope)
      }),
  )
}

async function answer(
  ctx: Context,
  routes: RouteTable,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const caller = request.access?.caller
  if (caller == null) throw new Error('A request reached /mcp without a caller.')
  const { respond } = await import('./respond.ts')
  const response = await respond({
    request: new Request(`${ctx.config.url}${url}`, { method: 'POST', headers: plainHeaders(request) }),
    body: request.body,
    tools: toolsFor(routes, request, caller),
    run: (tool, given) => tool.run(deskOf(ctx, request, routes), given),
    explain: (error) => explain(request, error),
  })
  void reply.code(response.status)
  const type = response.headers.get('content-type')
  if (type !== null) void reply.type(type)
  const text = await response.text()
  return reply.send(text === '' ? undefined : text)
}

/** The message for the client. A bug is logged, and shows no details. */
function explain(request: FastifyRequest, error: unknown): string {
  const known = toApiError(error)
  if (known !== null) return `${known.status}: ${known.message}`
  request.log.error({ err: error, request_id: request.id }, 'A tool failed because of a bug.')
  return `500: Something went wrong on our side. The request id ${request.id} finds it in the server's log.`
}

const passedHeaders = ['accept', 'content-type', 'mcp-protocol-version']

const plainHeaders = ({ headers }: FastifyRequest): Record<string, string> =>
  Object.fromEntries(
    passedHeaders.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
