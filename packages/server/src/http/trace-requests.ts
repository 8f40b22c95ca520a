// One span for each request. It continues the trace that the caller names in `traceparent`.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Span } from '@opentelemetry/api'
import type { RemoteSpan, Tracer } from '../lib/tracing.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** null: requests are not traced. */
    span: Span | null
  }
}

/** Probes and scrapes come every few seconds and tell nothing. */
const untraced = new Set(['/healthz', '/readyz', '/metrics'])

/** To be called before other hooks are added, so that these run inside of the span. */
export function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.addHook('onRequest', (request, reply, next) => {
    const route = request.routeOptions.url ?? 'unknown'
    if (untraced.has(route)) return next()
    const { method } = request
    const span = tracer.start({
      name: `${method} ${route}`,
      kind: 'server',
      attributes: {
        'http.request.method': method,
        'http.route': route,
        'millrace.request.id': request.id,
      },
      parent: readParent(request.headers),
    })
    request.span = span
    reply.raw.once('close', () => {
      const { statusCode, writableFinished } = reply.raw
      const organization = request.access?.org?.slug
      span.setAttribute('http.response.status_code', statusCode)
      if (organization !== undefined) span.setAttribute('millrace.organization', organization)
      if (statusCode >= 500) tracer.fail(span, String(statusCode))
      else if (!writableFinished) tracer.fail(span, 'aborted')
      span.end()
    })
    return tracer.within(span, next)
  })
  // The body arrives with events of the connection, which are outside of the span.
  app.addHook('preValidation', ({ span }, _reply, next) =>
    span === null ? next() : tracer.within(span, next),
  )
}

const traceparent = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/

function readParent({ traceparent: given, tracestate }: FastifyRequest['headers']): RemoteSpan | undefined {
  const [, traceId, spanId, flags = ''] = traceparent.exec(typeof given === 'string' ? given : '') ?? []
  if (traceId === undefined || spanId === undefined) return undefined
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1
  return { traceId, spanId, isSampled, traceState: typeof tracestate === 'string' ? tracestate : undefined }
}
