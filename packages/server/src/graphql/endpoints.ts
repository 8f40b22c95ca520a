// `POST /v1/graphql`: a subset of the schema that public clients use. Only bearer tokens count, so no page of another origin
// can use the session of a browser. The routes that resolvers call decide what the token may do.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import type { Context } from '../context.ts'
import { routeTable } from '../http/call-route.ts'
import { authorizeToken, type Rule } from '../http/access.ts'
import type { Endpoint } from '../http/endpoint.ts'
import { holdRequest } from '../http/limits/requests.ts'
import type { Route } from '../http/route.ts'
import { ApiError, badRequest } from '../lib/errors.ts'
import { limits } from './limits.ts'
import { addressesOf } from './addresses.ts'
import { restOf } from './rest.ts'
import { presentError, run, type GraphqlRequest } from './run.ts'
import { buildSubset } from './subset.ts'

const url = '/v1/graphql'

const rule: Rule = { url, scope: 'none', permission: 'token', feature: null, params: {} }

/** A configuration of 1 MiB may be longer as a JSON string. */
const bodyLimitBytes = 4 * 1024 * 1024

export function graphqlEndpoints(ctx: Context, routes: readonly Route[]): Endpoint[] {
  // Most installations never need it, so the first request builds it.
  let schema: GraphQLSchema | null = null
  const table = routeTable(routes)
  return [
    {
      methods: ['POST'],
      url,
      body: 'json',
      crossOrigin: true,
      bodyLimitBytes,
      async admit(request) {
        const access = await authorizeToken(ctx, rule, request)
        request.access = access
        holdRequest(request, access)
      },
      async handle(request, reply) {
        requireJson(request)
        const given = readRequest(request.body)
        const caller = request.access?.caller
        if (!caller) throw new Error('A request of GraphQL was not admitted.')
        const signal = signalOf(reply)
        const context = {
          rest: restOf(ctx, request, table, signal),
          addresses: addressesOf(ctx.db, caller.user.id),
        }
        const { isGraphql, result } = await run((schema ??= buildSubset()), given, context, signal)
        const errors = result.errors?.map((error) => presentError(error, request.log, request.id))
        return reply
          .code(isGraphql ? 200 : 400)
          .type('application/json; charset=utf-8')
          .send(
            JSON.stringify({
              ...(isGraphql ? {} : { message: errors?.[0]?.message }),
              ...(errors === undefined ? {} : { errors }),
              ...(result.data === undefined ? {} : { data: result.data }),
            }),
          )
      },
    },
    {
      methods: ['GET', 'PUT', 'PATCH', 'DELETE'],
      url,
      body: 'json',
      crossOrigin: true,
      async handle(request, reply) {
        void reply.header('Allow', 'POST, OPTIONS')
        throw new ApiError(405, `${request.method} is not allowed here; send queries with POST.`)
      },
    },
  ]
}

/** A form of another site cannot send this type without asking first. */
function requireJson({ headers }: FastifyRequest): void {
  const type = headers['content-type'] ?? ''
  if (!/^application\/json\b/i.test(type)) {
    throw new ApiError(415, 'Send the query as JSON, with Content-Type: application/json.')
  }
}

function readRequest(body: unknown): GraphqlRequest {
  const { query, operationName, variables } = (body ?? {}) as Record<string, unknown>
  if (typeof query !== 'string' || query.trim() === '') {
    throw badRequest('The body has no `query`. Send {"query": "…", "variables": {…}}.')
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw badRequest('`operationName` must be a text.')
  }
  if (variables !== undefined && variables !== null && !isObject(variables)) {
    throw badRequest('`variables` must be an object.')
  }
  return {
    query,
    operationName: operationName || null,
    variables: isObject(variables) ? variables : {},
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Aborts when time is up, and when the client is gone. */
function signalOf(reply: FastifyReply): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return AbortSignal.any([gone.signal, AbortSignal.timeout(limits.milliseconds)])
}
