// Reads traces that a receiver got over OTLP.
import { createRequire } from 'node:module'
import type { Received } from './receiver.ts'

interface KeyValue {
  key: string
  value: { stringValue?: string; intValue?: string; boolValue?: boolean }
}
export interface OtlpSpan {
  kind: string
  traceId: string
  spanId: string
  parentSpanId: string
  traceState: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: KeyValue[]
  links: Array<{ traceId: string; spanId: string; attributes: KeyValue[] }>
  status: { code?: string; message?: string }
}
interface Decoded {
  resourceSpans: Array<{
    resource: { attributes: KeyValue[] }
    scopeSpans: Array<{ scope: { name: string }; spans: OtlpSpan[] }>
  }>
}

// Decodes the messages with OpenTelemetry's own library, which has no types for this part.
const root = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root') as {
  opentelemetry: {
    proto: {
      collector: {
        trace: {
          v1: {
            ExportTraceServiceRequest: {
              decode(bytes: Uint8Array): unknown
              toObject(message: unknown, options: object): Decoded
            }
            ExportTraceServiceResponse: { encode(value: object): { finish(): Uint8Array } }
          }
        }
      }
    }
  }
}
const { ExportTraceServiceRequest } = root.opentelemetry.proto.collector.trace.v1
export const { ExportTraceServiceResponse } = root.opentelemetry.proto.collector.trace.v1

export function decode({ raw }: Received): Decoded {
  const message = ExportTraceServiceRequest.decode(raw)
  const decoded = ExportTraceServiceRequest.toObject(message, {
    longs: String,
    enums: String,
    bytes: String,
    arrays: true,
    objects: true,
    defaults: true,
  })
  return decoded
}

export const hex = (base64: string) => Buffer.from(base64, 'base64').toString('hex')
export const spansOf = (received: readonly Received[]): OtlpSpan[] =>
  received.flatMap((one) =>
    decode(one).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  )
export const read = (attributes: readonly KeyValue[]) =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue || (value.intValue === undefined ? value.boolValue : Number(value.intValue)),
    ]),
  )
