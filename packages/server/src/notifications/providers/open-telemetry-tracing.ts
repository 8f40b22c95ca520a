// Sends each build as a trace, over OTLP/HTTP.
import type { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer'
import { Type } from 'typebox'
import type { Db } from '../../db/pool.ts'
import type { OutboundResponse } from '../../lib/outbound.ts'
import { getHistory } from './history.ts'
import type { Message } from '../messages/message.ts'
import { DeliveryFailed, expectSuccess, type Provider, type Sender, type Service } from '../provider.ts'
import type { TracingSettings } from './otlp-spans.ts'
import { TextMap, unlessFiltered, urlField } from './schemas.ts'

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/
const headerValue = /^[\x20-\x7e\t]*$/

/** Returns what is wrong, as a phrase after the setting's name; null: nothing. */
function refuseHeaders(value: unknown): string | null {
  const bad = Object.entries(value as Record<string, string>).find(
    ([name, text]) => !headerName.test(name) || !headerValue.test(text),
  )
  return bad === undefined ? null : `has "${bad[0].slice(0, 60)}", which cannot be sent as a header`
}

export const openTelemetryTracing: Provider = {
  id: 'open_telemetry_tracing',
  name: 'OpenTelemetry Tracing',
  graphqlType: 'NotificationServiceOpenTelemetryTracing',
  madeBy: 'rest',
  isPinged: false,
  summary: 'Each build as a trace, over OTLP and HTTP.',
  selectsBy: 'build_states_or_all',
  fields: {
    endpoint: { ...urlField, label: 'Endpoint', isRequired: true, shown: 'full' },
    service_name: {
      label: 'Name of the service',
      schema: Type.String({ minLength: 1, maxLength: 255, description: 'Name that traces are sent under.' }),
      shown: 'full',
    },
    headers: {
      label: 'Headers',
      schema: Type.Union([TextMap], { description: 'Headers of each request, such as one with a key.' }),
      refuse: refuseHeaders,
      isSecret: true,
      shown: 'never',
    },
    resource_attributes: {
      label: 'Attributes',
      schema: Type.Union([TextMap], { description: 'Attributes that are added to every trace.' }),
      shown: 'full',
    },
    tracestate: {
      label: 'tracestate',
      schema: Type.String({
        maxLength: 512,
        pattern:
          '^[a-z0-9][a-z0-9_*/@-]{0,255}=[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{1,256}' +
          '(, ?[a-z0-9][a-z0-9_*/@-]{0,255}=[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{1,256}){0,31}$',
        description:
          'Value of the `tracestate` header. Must be a tracestate, such as vendor=value,other=value.',
        examples: ['vendor=value'],
      }),
      shown: 'full',
      feature: 'tracestate',
    },
  },
}

/** Collectors refuse requests of many megabytes. */
const spansAtOnce = 2000

export const openTelemetryTracingSender: Sender = {
  wants: (service, trigger) => trigger.event === 'build.finished' && unlessFiltered(service, trigger),
  async deliver({ message, service, send, db }) {
    const settings = service.settings as unknown as TracingSettings
    // Loaded on first use: it is a fifth of all code that a start would read.
    const { ProtobufTraceSerializer: protobuf } = await import('@opentelemetry/otlp-transformer')
    // A test sends a request without spans, which collectors answer like any other.
    const spans = message.event === 'ping' ? [] : await spansOfEnd(db, service, message)
    for (let from = 0; from === 0 || from < spans.length; from += spansAtOnce) {
      const body = protobuf.serializeRequest(spans.slice(from, from + spansAtOnce))
      if (body === undefined) throw new Error('The trace could not be written as protobuf.')
      const headers = ownHeaders(settings.headers ?? {})
      const response = await send({
        method: 'POST',
        url: tracesUrl(settings.endpoint),
        headers: { ...headers, 'Content-Type': 'application/x-protobuf' },
        secretHeaders: Object.keys(headers).map((name) => name.toLowerCase()),
        body,
      })
      expectTaken(response, protobuf)
    }
  },
}

async function spansOfEnd(db: Db, service: Service, message: Message) {
  const { spansOf } = await import('./otlp-spans.ts')
  const history = await getHistory(db, service.organizationId, message)
  return spansOf(service.settings as unknown as TracingSettings, message, history)
}

/** The endpoint may be given with or without the path of traces. */
function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = path.endsWith('/v1/traces') ? path : `${path}/v1/traces`
  return url.href
}

const ours = new Set(['connection', 'content-length', 'content-type', 'host', 'transfer-encoding', 'upgrade'])

const ownHeaders = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ours.has(name.toLowerCase())))

/** Receivers may answer 200 and reject spans; another attempt would not help. */
function expectTaken(response: OutboundResponse, protobuf: typeof ProtobufTraceSerializer): void {
  if (response.status === 400) {
    throw new DeliveryFailed('The receiver answered 400: it does not take the trace.', { isFinal: true })
  }
  expectSuccess(response)
  const isProtobuf = response.headers['content-type']?.startsWith('application/x-protobuf') ?? false
  if (!isProtobuf || response.body.length === 0) return
  const refused = readRefusal(response.body, protobuf)
  if (refused !== null) throw new DeliveryFailed(refused, { isFinal: true })
}

function readRefusal(body: Uint8Array, protobuf: typeof ProtobufTraceSerializer): string | null {
  try {
    const { rejectedSpans = 0, errorMessage = '' } = protobuf.deserializeResponse(body).partialSuccess ?? {}
    return rejectedSpans > 0
      ? `The receiver refused ${rejectedSpans} spans: ${errorMessage.slice(0, 500)}`
      : null
  } catch {
    // The status is 2xx, so an unreadable body is ignored.
    return null
  }
}
