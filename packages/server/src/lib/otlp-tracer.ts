// A tracer that sends its spans over OTLP/HTTP. Spans are sent in batches every few seconds. A collector that does not answer
// costs spans, and never delays the work.
import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import {
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Span,
  type SpanContext,
} from '@opentelemetry/api'
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import { type RemoteSpan, type SpanOptions, type Tracer } from './tracing.ts'

export interface TraceSettings {
  /** With the path. */
  url: string
  headers: Readonly<Record<string, string>>
  /** The share of traces that are recorded, unless the caller of a request has decided. */
  sample: number
  resource: Readonly<Record<string, string>>
  /** The pause between two requests. */
  everyMs?: number
}

const kinds = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const

export function otlpTracer(settings: TraceSettings, report: (reason: string | null) => void): Tracer {
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'host.name': hostname(), ...settings.resource }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.sample) }),
    spanProcessors: [
      new BatchSpanProcessor(otlpExporter(settings, report), {
        scheduledDelayMillis: settings.everyMs ?? 5000,
      }),
    ],
  })
  const tracer = provider.getTracer('millrace')
  const current = new AsyncLocalStorage<Span>()
  const contextOf = (parent: SpanOptions['parent']): Context => {
    if (parent !== undefined) return trace.setSpanContext(ROOT_CONTEXT, remoteContext(parent))
    const span = current.getStore()
    return span === undefined ? ROOT_CONTEXT : trace.setSpan(ROOT_CONTEXT, span)
  }
  return {
    start({ name, kind, attributes, parent, startedAt }) {
      const options = {
        kind: kinds[kind],
        attributes,
        ...(startedAt === undefined ? {} : { startTime: startedAt }),
      }
      return tracer.startSpan(name, options, contextOf(parent))
    },
    within: (span, work) => current.run(span, work),
    active: () => current.getStore(),
    fail(span, type) {
      span.setStatus({ code: SpanStatusCode.ERROR })
      span.setAttribute('error.type', type)
    },
    stop: () => provider.shutdown(),
  }
}

const remoteContext = ({ traceId, spanId, isSampled, traceState }: RemoteSpan): SpanContext => ({
  traceId,
  spanId,
  traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
  isRemote: true,
  ...(traceState === undefined ? {} : { traceState: createTraceState(traceState) }),
})

const mostAttempts = 3
const pauseMs = 1000
const mostMs = 10_000
/** OTLP/HTTP: other statuses are final. */
const retried = new Set([429, 502, 503, 504])

/** Calls `report` with the reason when sending fails, and with null when it works again. */
function otlpExporter(
  { url, headers }: TraceSettings,
  report: (reason: string | null) => void,
): SpanExporter {
  let isFailing = false
  const inFlight = new Set<Promise<void>>()
  const send = async (spans: ReadableSpan[]): Promise<string | null> => {
    const body = ProtobufTraceSerializer.serializeRequest(spans)
    if (body === undefined) return 'The spans could not be written as protobuf.'
    for (let attempt = 1; ; attempt++) {
      const { reason, isFinal } = await post(url, headers, body)
      if (reason === null || isFinal || attempt === mostAttempts) return reason
      await delay(pauseMs * attempt, undefined, { ref: false })
    }
  }
  return {
    export(spans, done) {
      const sendAndReport = async () => {
        const reason = await send(spans)
        if ((reason !== null) !== isFailing) report(reason)
        isFailing = reason !== null
        done({ code: reason === null ? exportSucceeded : exportFailed })
      }
      const sending = sendAndReport().finally(() => inFlight.delete(sending))
      inFlight.add(sending)
    },
    async shutdown() {
      await Promise.all(inFlight)
    },
  }
}

// The values of ExportResultCode in @opentelemetry/core.
const exportSucceeded = 0
const exportFailed = 1

async function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): Promise<{ reason: string | null; isFinal: boolean }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/x-protobuf' },
      body: Buffer.from(body),
      redirect: 'error',
      signal: AbortSignal.timeout(mostMs),
    })
    await response.arrayBuffer()
    if (response.ok) return { reason: null, isFinal: true }
    return { reason: `It answered ${response.status}.`, isFinal: !retried.has(response.status) }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { reason: cause instanceof Error ? cause.message : String(cause), isFinal: false }
  }
}
