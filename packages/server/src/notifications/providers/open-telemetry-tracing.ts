// Sends each build as a trace, over OTLP.
import { Type } from 'typebox'
import type { Provider } from '../provider.ts'
import { TextMap, urlField } from './schemas.ts'

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/
const headerValue = /^[\x20-\x7e\t]*$/

/** What is wrong with a map of headers, to be read after its name; null: nothing. */
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
  fields: {
    endpoint: { ...urlField, isRequired: true, shown: 'full' },
    service_name: { schema: Type.String({ minLength: 1, maxLength: 255 }), shown: 'full' },
    headers: { schema: TextMap, refuse: refuseHeaders, isSecret: true, shown: 'never' },
    resource_attributes: { schema: TextMap, shown: 'full' },
    tracestate: {
      schema: Type.String({
        maxLength: 512,
        pattern:
          '^[a-z0-9][a-z0-9_*/@-]{0,255}=[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{1,256}' +
          '(, ?[a-z0-9][a-z0-9_*/@-]{0,255}=[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{1,256}){0,31}$',
        description: 'must be a tracestate, such as vendor=value,other=value',
        examples: ['vendor=value'],
      }),
      shown: 'full',
      feature: 'tracestate',
    },
  },
}
