// Metrics and traces of this server.
import { integer, isHttpUrl, Refused, subject, text, token, type Reader, type Setting } from './settings.ts'

/** The host is null where only a port is given. */
const listenAddress: Setting<{ host: string | null; port: number } | null> = {
  absent: null,
  shown: 'none',
  description:
    '`9464` or `0.0.0.0:9464`: a second address for `/healthz`, `/readyz` and `/metrics`, also of workers, which listen nowhere else. See [monitoring.md](monitoring.md)',
  parse(given) {
    const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:]+)):)?(\d{1,5})$/.exec(given) ?? []
    const port = Number(digits)
    if (digits === undefined || port > 65_535) {
      throw new Refused(`must be a port, or an address and a port such as 0.0.0.0:9464, not "${given}".`)
    }
    return { host: bracketed ?? plain ?? null, port }
  },
}

const share: Setting<number> = {
  absent: 1,
  shown: '1',
  description:
    'The share of traces that are recorded, from 0 to 1. Agents ask for work every few seconds, so choose 0.1 or less with many agents',
  parse(given) {
    const value = Number(given)
    if (!(value >= 0 && value <= 1)) throw new Refused(`must be a number from 0 to 1, not "${given}".`)
    return value
  },
}

export const metricsSettings = subject('Metrics', {
  MILLRACE_METRICS_TOKEN: token(
    'Required as `Authorization: Bearer …` to read `GET /metrics`. Without it only programs on the same machine may read them, and only while `HOST` is a loopback address and no proxy forwards the request',
    16,
  ),
  MILLRACE_METRICS_LISTEN: listenAddress,
  MILLRACE_METRICS_QUEUES: integer(
    { absent: 200, from: 0, to: 10_000 },
    'How many queues have metrics of their own',
  ),
})

export const traceSettings = subject('Traces', {
  MILLRACE_TRACES_ENDPOINT: text(
    '',
    'The collector, such as `http://collector:4318`; `/v1/traces` is added to it. See [monitoring.md](monitoring.md#traces)',
    { shown: '`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, else `OTEL_EXPORTER_OTLP_ENDPOINT`, else none' },
  ),
  MILLRACE_TRACES_HEADERS: text(
    '',
    'Headers for the collector, such as `authorization=Bearer%20secret,x-team=ci`',
    { shown: '`OTEL_EXPORTER_OTLP_TRACES_HEADERS`, else `OTEL_EXPORTER_OTLP_HEADERS`' },
  ),
  MILLRACE_TRACES_SAMPLE: share,
  OTEL_SERVICE_NAME: text('', 'The name of the process in its spans', { shown: '`millrace`' }),
  OTEL_RESOURCE_ATTRIBUTES: text('', 'Further attributes of the process, `name=value,…`'),
})

/** They count where ours are absent, whose defaults name them. */
const openTelemetrySettings = subject('OpenTelemetry', {
  OTEL_EXPORTER_OTLP_ENDPOINT: text('', ''),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text('', ''),
  OTEL_EXPORTER_OTLP_HEADERS: text('', ''),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: text('', ''),
})

export function readMonitoring(reader: Reader, usualHost: string) {
  const values = reader.read(metricsSettings)
  const listen = values.MILLRACE_METRICS_LISTEN
  const { traces, traceHeaders } = readTraces(reader)
  return {
    metrics: {
      /** Where health and metrics are served besides the API; null: nowhere. */
      listen: listen === null ? null : { ...listen, host: listen.host ?? usualHost },
      queues: values.MILLRACE_METRICS_QUEUES,
    },
    /** null: this server is not traced. */
    traces,
    secrets: { metricsToken: values.MILLRACE_METRICS_TOKEN, traceHeaders },
  }
}

function readTraces(reader: Reader) {
  const own = reader.read(traceSettings)
  const standard = reader.read(openTelemetrySettings)
  const traceHeaders = readPairs(
    own.MILLRACE_TRACES_HEADERS ||
      standard.OTEL_EXPORTER_OTLP_TRACES_HEADERS ||
      standard.OTEL_EXPORTER_OTLP_HEADERS,
  )
  const base = own.MILLRACE_TRACES_ENDPOINT || standard.OTEL_EXPORTER_OTLP_ENDPOINT
  const whole = own.MILLRACE_TRACES_ENDPOINT ? '' : standard.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  const given = whole || base
  if (given === '') return { traces: null, traceHeaders }
  if (!isHttpUrl(given)) {
    reader.problems.push(`MILLRACE_TRACES_ENDPOINT must be an http or https address, not "${given}".`)
    return { traces: null, traceHeaders }
  }
  const url = new URL(given)
  if (!whole && !url.pathname.endsWith('/v1/traces')) {
    url.pathname = url.pathname.replace(/\/*$/, '/v1/traces')
  }
  const name = own.OTEL_SERVICE_NAME
  /** Attributes that describe this process. */
  const resource = {
    ...readPairs(own.OTEL_RESOURCE_ATTRIBUTES),
    ...(name ? { 'service.name': name } : {}),
  }
  return { traces: { url: url.href, sample: own.MILLRACE_TRACES_SAMPLE, resource }, traceHeaders }
}

/** `name=value,other=value`, with values encoded like in a URL. */
const readPairs = (given: string): Record<string, string> =>
  Object.fromEntries(
    given
      .split(',')
      .map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair))
      .flatMap((match) => (match === null ? [] : [[match[1] ?? '', decoded(match[2] ?? '')]])),
  )

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
