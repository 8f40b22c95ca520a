// Where requests come in, and how many.
import { httpUrl, integer, parseFlag, ranges, subject, text, type Reader, type Setting } from './settings.ts'

/** Requests are counted per process, or by all processes together; `for_show` only sends the headers. */
type RateLimitCounting = 'by_process' | 'by_all' | 'for_show'

const rateLimitCounting: Setting<RateLimitCounting> = {
  absent: 'by_process',
  shown: '`process`',
  description:
    'Each process enforces the two limits below. `on`: all replicas share one count, in the database. `off`: the limits only appear in headers',
  parse: (given) =>
    given.toLowerCase() === 'process' ? 'by_process' : parseFlag(given) ? 'by_all' : 'for_show',
}

const inUrl = (host: string) => (host.includes(':') ? `[${host}]` : host)

export const httpSettings = subject('Requests', {
  HOST: text('127.0.0.1', 'The address to listen on', {
    must: ['be a host name or an address', (host) => URL.canParse(`http://${inUrl(host)}`)],
  }),
  PORT: integer({ absent: 3000, from: 0, to: 65535 }, 'The port to listen on'),
  MILLRACE_URL: httpUrl(null, 'The address people use; all links start with it', 'from the two above'),
  MILLRACE_TRUSTED_PROXIES: ranges('Address ranges whose `X-Forwarded-For` is believed'),
  MILLRACE_UNKNOWN_BODY_SECONDS: integer(
    { absent: 10, from: 1, to: 3600 },
    "How long the body of a request may take before the request's token, ticket or webhook address is accepted. Over the limit the response is 408, and the connection is closed",
  ),
  MILLRACE_UNKNOWN_BODIES: integer(
    { absent: 500, from: 1, to: 100_000 },
    'How many such requests a process waits for at once. Over the limit the response is 503, and the connection is closed',
  ),
  MILLRACE_BODY_BYTES_PER_SECOND: integer(
    { absent: 1024, from: 1, to: 1024 * 1024 },
    'The slowest pace of a body whose sender is known. Below it the response is 408, and the connection is closed',
  ),
  MILLRACE_BODY_PACE_SECONDS: integer(
    { absent: 30, from: 1, to: 3600 },
    'The time over which that is measured',
  ),
  MILLRACE_BODIES: integer(
    { absent: 5000, from: 1, to: 1_000_000 },
    'How many bodies of known senders a process receives at once. Over the limit the response is 503',
  ),
  MILLRACE_BODIES_ORGANIZATION: integer(
    { absent: 1000, from: 1, to: 1_000_000 },
    'Those of one organization. Over the limit the response is 429',
  ),
  MILLRACE_BODIES_SENDER: integer(
    { absent: 200, from: 1, to: 1_000_000 },
    'Those of one user, agent, job, test suite or webhook. Over the limit the response is 429',
  ),
  MILLRACE_REQUESTS_ORGANIZATION: integer(
    { absent: 4000, from: 1, to: 1_000_000 },
    'Requests of one organization that are under way in a process, without those of agents. Over the limit the response is 429',
  ),
  MILLRACE_REQUESTS_USER: integer(
    { absent: 1000, from: 1, to: 1_000_000 },
    'Requests of one user that are under way in a process. Over the limit the response is 429',
  ),
  MILLRACE_REQUESTS_AGENTS: integer(
    { absent: 7000, from: 1, to: 1_000_000 },
    'Requests of agents and jobs of one organization that are under way in a process, with downloads at addresses that it handed out. Over the limit the response is 429',
  ),
  MILLRACE_REQUESTS_AGENT: integer(
    { absent: 500, from: 1, to: 1_000_000 },
    'Those of one agent or job. Over the limit the response is 429',
  ),
  MILLRACE_CONNECTIONS: integer(
    { absent: 10_000, from: 100, to: 1_000_000 },
    'Connections of a process. Over the limit the one is closed that has waited longest for a request. Keep it below the files that the process may open',
  ),
  MILLRACE_STREAMS: integer(
    { absent: 2000, from: 1, to: 1_000_000 },
    'Event and log streams that a process has open at once. Over the limit the response is 503',
  ),
  MILLRACE_STREAMS_ORGANIZATION: integer(
    { absent: 1000, from: 1, to: 1_000_000 },
    'Event and log streams of one organization in a process. Over the limit the response is 429',
  ),
  MILLRACE_STREAMS_USER: integer(
    { absent: 100, from: 1, to: 1_000_000 },
    'Event and log streams of one user in a process. Over the limit the response is 429',
  ),
  MILLRACE_RATE_LIMIT: rateLimitCounting,
  MILLRACE_RATE_LIMIT_ORGANIZATION: integer(
    { absent: 60_000, from: 1, to: 10_000_000 },
    'Requests per minute of an organization',
  ),
  MILLRACE_RATE_LIMIT_USER: integer(
    { absent: 30_000, from: 1, to: 10_000_000 },
    'Requests per minute of a user',
  ),
  MILLRACE_DEEPEST_LISTING: integer(
    { absent: 10_000, from: 100, to: 10_000_000 },
    'The last row that page numbers reach in lists of builds. For more, callers use filters or cursors',
  ),
})

export function readHttp(reader: Reader) {
  const values = reader.read(httpSettings)
  const { HOST: host, PORT: port } = values
  return {
    host,
    port,
    /** The start of every URL in a response; no trailing slash. */
    url: values.MILLRACE_URL ?? `http://${inUrl(host)}:${port}`,
    trustedProxies: values.MILLRACE_TRUSTED_PROXIES,
    unknownBodies: {
      seconds: values.MILLRACE_UNKNOWN_BODY_SECONDS,
      most: values.MILLRACE_UNKNOWN_BODIES,
    },
    knownBodies: {
      bytesPerSecond: values.MILLRACE_BODY_BYTES_PER_SECOND,
      paceSeconds: values.MILLRACE_BODY_PACE_SECONDS,
      all: values.MILLRACE_BODIES,
      perOrganization: values.MILLRACE_BODIES_ORGANIZATION,
      perSender: values.MILLRACE_BODIES_SENDER,
    },
    requests: {
      all: values.MILLRACE_CONNECTIONS,
      perOrganization: values.MILLRACE_REQUESTS_ORGANIZATION,
      perSender: values.MILLRACE_REQUESTS_USER,
    },
    agentRequests: {
      all: values.MILLRACE_CONNECTIONS,
      perOrganization: values.MILLRACE_REQUESTS_AGENTS,
      perSender: values.MILLRACE_REQUESTS_AGENT,
    },
    mostConnections: values.MILLRACE_CONNECTIONS,
    streams: {
      all: values.MILLRACE_STREAMS,
      perOrganization: values.MILLRACE_STREAMS_ORGANIZATION,
      perSender: values.MILLRACE_STREAMS_USER,
    },
    rateLimits: {
      counted: values.MILLRACE_RATE_LIMIT,
      organizationPerMinute: values.MILLRACE_RATE_LIMIT_ORGANIZATION,
      userPerMinute: values.MILLRACE_RATE_LIMIT_USER,
    },
    deepestListing: values.MILLRACE_DEEPEST_LISTING,
  }
}
