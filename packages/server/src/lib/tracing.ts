// Traces of the server itself. Without a tracer nothing is measured: every place checks for null first. lib/otlp-tracer.ts makes
// the tracer. Spans never carry values of statements, messages of errors, bodies, or paths of requests.
import type { Attributes, Span } from '@opentelemetry/api'

/** A span of another process. */
export interface RemoteSpan {
  traceId: string
  spanId: string
  isSampled: boolean
  traceState: string | undefined
}

export interface SpanOptions {
  name: string
  kind: 'internal' | 'server' | 'client' | 'consumer'
  attributes: Attributes
  /** Of another process; default: the span that the caller runs in. */
  parent?: RemoteSpan | undefined
  /** In milliseconds; default: now. */
  startedAt?: number
}

export interface Tracer {
  start(options: SpanOptions): Span
  /** Everything that `work` starts, now or later, is inside of the span. */
  within<T>(span: Span, work: () => T): T
  /** The span that the caller runs in. */
  active(): Span | undefined
  /** Marks the span as failed. The type is a word, such as the code of an error. */
  fail(span: Span, type: string): void
  /** Sends what is left. */
  stop(): Promise<void>
}

/** Runs `work` in a span. */
export async function traced<T>(
  tracer: Tracer | null,
  options: SpanOptions,
  work: (span: Span | null) => Promise<T>,
): Promise<T> {
  if (tracer === null) return work(null)
  const span = tracer.start(options)
  try {
    return await tracer.within(span, () => work(span))
  } catch (error) {
    tracer.fail(span, errorTypeOf(error))
    throw error
  } finally {
    span.end()
  }
}

/** The kind of an error, without its message, which may quote values. */
function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code: unknown = Reflect.get(error, 'code')
  return typeof code === 'string' && /^\w{1,40}$/.test(code) ? code : error.constructor.name
}
