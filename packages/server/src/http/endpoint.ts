// The one place that puts routes on the server. REST routes, agent routes, uploads and web pages each become endpoints;
// their own definitions say who may call them.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import { ApiError } from '../lib/errors.ts'
import { parseBody } from './json-body.ts'

/** The handler gets a JSON object, bytes, the fields of an HTML form (`URLSearchParams`), or reads the stream itself. */
type BodyKind = 'json' | 'bytes' | 'form' | 'stream'

declare module 'fastify' {
  interface FastifyContextConfig {
    body?: BodyKind
    crossOrigin?: boolean
  }
}

export interface Endpoint extends Pick<RouteOptions, 'url' | 'onSend' | 'errorHandler'> {
  methods: readonly HTTPMethods[]
  body: BodyKind
  /** Pages of other origins may read the answers: it takes tokens, which no browser adds by itself, or tells only what is public. */
  crossOrigin?: true
  /** Requests that write, but after which no background loop has anything to do: these do not wake the workers. */
  makesNoWork?: boolean
  /** Default 1 MiB. */
  bodyLimitBytes?: number
  /** Refuses callers before the body is read. */
  admit?(request: FastifyRequest): Promise<void>
  handle(request: FastifyRequest, reply: FastifyReply): Promise<unknown>
}

export async function registerEndpoints(app: FastifyInstance, endpoints: readonly Endpoint[]): Promise<void> {
  for (const endpoint of endpoints) if (endpoint.body !== 'stream') register(app, endpoint)
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    for (const endpoint of endpoints) if (endpoint.body === 'stream') register(scope, endpoint)
  })
}

function register(app: FastifyInstance, endpoint: Endpoint): void {
  const {
    methods,
    body,
    crossOrigin = false,
    makesNoWork = false,
    bodyLimitBytes,
    admit,
    handle,
    ...options
  } = endpoint
  app.route({
    ...options,
    method: [...methods],
    config: { body, crossOrigin, makesNoWork },
    ...(bodyLimitBytes === undefined ? {} : { bodyLimit: bodyLimitBytes }),
    ...(admit === undefined ? {} : { onRequest: admit }),
    handler: handle,
  })
}

/** To be called before routes are registered. */
export function readBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    const type = request.headers['content-type']
    const { body } = request.routeOptions.config
    if (body === 'bytes') return bytes
    return body === 'form' ? readForm(type, bytes) : readJson(type, bytes)
  })
}

/** Callers may leave out the Content-Type. */
function readJson(type: string | undefined, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (type !== undefined && !/^application\/([\w.+-]+\+)?json\b/i.test(type)) {
    throw new ApiError(
      415,
      `Send the body as JSON, with Content-Type: application/json instead of ${type.slice(0, 100)}.`,
    )
  }
  return parseBody(bytes.toString())
}

function readForm(type: string | undefined, bytes: Buffer): URLSearchParams {
  if (/^application\/x-www-form-urlencoded\b/i.test(type ?? '')) return new URLSearchParams(bytes.toString())
  throw new ApiError(415, 'Unsupported Media Type')
}
