// Calls REST routes for endpoints of another form, so that these have the rules of REST. Each call counts as a request.
import type { FastifyRequest } from 'fastify'
import { flushTokenCaches } from '../auth/access-watch.ts'
import type { Context } from '../context.ts'
import { ApiError } from '../lib/errors.ts'
import { authorizeToken } from './access.ts'
import { untilGone } from './limits/gone.ts'
import type { Answer } from './answer.ts'
import type { RawQuery } from './query.ts'
import type { RawInput, Route } from './route.ts'

export interface RouteCall {
  /** With `org`, for routes of an organization. */
  params?: Record<string, string>
  query?: RawQuery
  body?: unknown
}

export type Called = Pick<Answer, 'status' | 'headers' | 'stream'> & {
  /** Parsed, if it is JSON. Copied, so callers may not change what others see. */
  body: unknown
}

/** Routes by method and URL, such as `GET /v2/organizations/:org/builds`. */
export type RouteTable = ReadonlyMap<string, Route>

export const routeTable = (routes: readonly Route[]): RouteTable =>
  new Map(routes.flatMap((route) => route.methods.map((method) => [`${method} ${route.url}`, route])))

/** `request` has the token. Throws the ApiError that the route would answer. */
export async function callRoute(
  ctx: Context,
  request: FastifyRequest,
  route: Route,
  { params = {}, query = {}, body }: RouteCall,
): Promise<Called> {
  const [method] = route.methods
  if (method === undefined || route.rawBody !== null || route.readsBytes)
    throw new Error(`${route.url} cannot be called.`)
  const input: RawInput = {
    ctx,
    method,
    url: { base: ctx.config.url, path: pathWith(route.url, params), query },
    headers: {},
    params,
    body,
    ...(await authorizeToken(ctx, route, request, params)),
    reauthorize: () =>
      authorizeToken(ctx, route, request, params).catch((error: unknown) => {
        if (error instanceof ApiError && error.status < 500) return null
        throw error
      }),
    gone: () => untilGone(request),
  }
  const answer = await route.run(input)
  if (route.changesAccess) await flushTokenCaches(ctx.db)
  return { ...answer, body: bodyOf(answer) }
}

const pathWith = (url: string, params: Record<string, string>): string =>
  url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent((params[name] ?? '').toWellFormed()))

function bodyOf({ body, json, headers }: Answer): unknown {
  if (json !== undefined) return JSON.parse(String(json))
  const isJson = headers?.['Content-Type'] === undefined
  return isJson && body !== undefined ? JSON.parse(JSON.stringify(body)) : body
}
