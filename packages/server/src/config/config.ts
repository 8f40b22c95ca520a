// Reads the environment; no other file does. Returns one frozen object, or all problems at once.
import { resolve } from 'node:path'
import { readHosted, type HostedSettings, type ReadText } from './hosted.ts'
import { readRanges } from '../lib/ip-ranges.ts'

export const roles = ['api', 'worker', 'agent'] as const
export type Role = (typeof roles)[number]

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

export interface Config {
  readonly host: string
  readonly port: number
  /** The start of every URL in a response; no trailing slash. */
  readonly url: string
  readonly dataDir: string
  /** `directUrl` leads to the same database past a pooler such as PgBouncer; null: `url` does. */
  readonly database: { kind: 'embedded' } | { kind: 'url'; url: string; directUrl: string | null }
  /** The most connections of this process that requests and background work use. */
  readonly databaseConnections: number
  /** Timeouts of connections and statements. */
  readonly databaseLimits: { readonly connectSeconds: number; readonly statementSeconds: number }
  readonly organizationSlug: string
  readonly roles: readonly Role[]
  /** The number of agents that the agent role runs. */
  readonly localAgents: number
  readonly logLevel: string
  /** After SIGTERM a server reports for so long that it is not ready, then it accepts no more requests. */
  readonly drainSeconds: number
  /** Proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[]
  /** The ranges that our webhooks come from, shown to receivers. */
  readonly webhookIps: readonly string[]
  /** Private ranges that URLs set by users may lead to. */
  readonly outboundAllow: readonly string[]
  /** The sender of mails; null: none are sent. */
  readonly mailFrom: string | null
  /** The destination of events of cloud_event_bus services. */
  readonly eventBus: {
    /** null: Amazon's, by region. */
    readonly endpoint: string | null
    /** The name of the bus in the service's account. */
    readonly name: string
    /** The `source` of events. */
    readonly source: string
  }
  /** Our apps at sites that services are connected to on a web page; null: not configured. */
  readonly oauth: Readonly<Record<OAuthProvider, OAuthApp | null>>
  /** The destination of change events for pagers. */
  readonly pagerUrl: string
  /** Limits of request bodies that are read before the sender is authenticated: seconds for each, number at once. */
  readonly unknownBodies: { readonly seconds: number; readonly most: number }
  readonly rateLimits: {
    /** Requests are counted per process, or by all processes together; `for_show` only sends the headers. */
    readonly counted: 'by_process' | 'by_all' | 'for_show'
    readonly organizationPerMinute: number
    readonly userPerMinute: number
  }
  readonly metrics: {
    /** Where health and metrics are served besides the API; null: nowhere. */
    readonly listen: { readonly host: string; readonly port: number } | null
    /** The number of queues with labels of their own. */
    readonly queues: number
  }
  /** When many schedules are due at the same time, they fire within so many seconds. */
  readonly scheduleSpreadSeconds: number
  /** Where traces of this server are sent; null: it is not traced. */
  readonly traces: {
    readonly url: string
    /** The share of traces that are recorded, from 0 to 1. */
    readonly sample: number
    /** Attributes that describe this process. */
    readonly resource: Readonly<Record<string, string>>
  } | null
  readonly timers: Timers
  readonly blobs: { readonly kind: 'disk' } | S3Settings
  /** null: no hosted clusters. */
  readonly hosted: HostedSettings | null
  /** The limit of one job's log. The rest is dropped. */
  readonly logMaxBytes: number
  /** For organizations and pipelines that say nothing else. */
  readonly retention: RetentionDefaults
  /** The caches of steps on agents without cache volumes. */
  readonly caches: {
    /** The limit of one cache, before compression; 0: there are none. */
    readonly entryBytes: number
    /** The limits of stored bytes. */
    readonly pipelineBytes: number
    readonly organizationBytes: number
    /** A cache that is not used for so long is deleted. */
    readonly days: number
  }
  /** Larger files are uploaded in parts of this size, if the sender can. */
  readonly artifactPartBytes: number
  /** Disconnected agents without a stored job are deleted after this time. */
  readonly agentDays: number
  /** Events of the outbox are kept at least this long: for event streams that reconnect, and traces of builds that continue. */
  readonly eventDays: number
  readonly auditDays: number
  /** The last row of a list of builds that page numbers reach. For more, callers use filters or cursors. */
  readonly deepestListing: number
  /** Directories whose repositories may be polled. */
  readonly pollDirectories: readonly string[]
  readonly secrets: {
    /** Separated by commas: the first seals, all open. Absent: one is created in the data directory. */
    readonly keys: string | undefined
    readonly adminToken: string | undefined
    /** The first token that agents register with. */
    readonly agentToken: string | undefined
    /** Absent: only this machine may read the metrics. */
    readonly metricsToken: string | undefined
    /** Sent with traces. */
    readonly traceHeaders: Readonly<Record<string, string>>
    /** With the password. */
    readonly smtpUrl: string | undefined
    /** The client secrets of the apps in `oauth`; empty if there is none. */
    readonly oauth: Readonly<Record<OAuthProvider, string>>
    /** Empty unless blobs are in S3. */
    readonly s3: S3Credentials
  }
}

/** Providers of notification services that are connected with OAuth. */
export const oauthProviders = ['chat_workspace', 'issue_tracker'] as const
export type OAuthProvider = (typeof oauthProviders)[number]

export const isOAuthProvider = (id: string): id is OAuthProvider =>
  oauthProviders.some((known) => known === id)

export interface OAuthApp {
  readonly clientId: string
  /** Separated as the site expects: by commas or spaces. */
  readonly scopes: string
  /** The expected `iss` parameter, for sites that send one with the redirect. */
  readonly issuer: string
  readonly authorizeUrl: string
  readonly tokenUrl: string
  readonly revokeUrl: string
  readonly apiUrl: string
}

export interface S3Settings {
  readonly kind: 's3'
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  readonly region: string
  /** null: Amazon's. With an endpoint the bucket is the first part of the path. */
  readonly endpoint: string | null
  /** Clients are redirected to the store; otherwise everything goes through this server. */
  readonly direct: boolean
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

/** Days are counted from the end of a build; 0: no limit. */
export interface RetentionDefaults {
  readonly build_days: number
  readonly log_days: number
  readonly artifact_days: number
  readonly archive_days: number
  /** So many newest builds of a pipeline are kept, however old they are. */
  readonly keep_newest_builds: number
  /** Whether a build is archived before its rows are deleted. */
  readonly archive_builds: boolean
}

export const mostDays = 36_500
export const mostKeptBuilds = 1_000_000

export interface Timers {
  readonly agentLostSeconds: number
  readonly acceptSeconds: number
  readonly cancelGraceSeconds: number
  readonly jobExpiryDays: number
  /** The longest time that a ping waits for a job. */
  readonly pingHoldSeconds: number
}

export type ConfigResult = { ok: true; config: Config } | { ok: false; problems: string[] }

export function readConfig(env: Record<string, string | undefined>): ConfigResult {
  const problems: string[] = []
  const text = (name: string, fallback: string) => env[name]?.trim() || fallback
  const integer = (name: string, fallback: number, min: number, max: number) => {
    const value = Number(text(name, String(fallback)))
    if (Number.isInteger(value) && value >= min && value <= max) return value
    problems.push(`${name} must be a whole number from ${min} to ${max}, not "${env[name]}".`)
    return fallback
  }
  const flag = (name: string, fallback: 'on' | 'off' = 'off') => {
    const value = text(name, fallback).toLowerCase()
    if (['on', 'true', '1'].includes(value)) return true
    if (!['off', 'false', '0'].includes(value)) problems.push(`${name} must be on or off, not "${value}".`)
    return false
  }
  const rateLimitCounts = (name: string): Config['rateLimits']['counted'] => {
    const value = text(name, 'process').toLowerCase()
    return value === 'process' ? 'by_process' : flag(name) ? 'by_all' : 'for_show'
  }
  const ranges = (name: string) => {
    const given = text(name, '')
      .split(/[\s,]+/)
      .filter(Boolean)
    const read = readRanges(given.join(' '))
    if (!read.ok) problems.push(`${name} has "${read.bad}", which is not an address range.`)
    return given
  }

  const host = text('HOST', '127.0.0.1')
  const port = integer('PORT', 3000, 0, 65535)
  const url = text('MILLRACE_URL', `http://${host.includes(':') ? `[${host}]` : host}:${port}`).replace(
    /\/+$/,
    '',
  )
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    problems.push(`MILLRACE_URL must be an http or https address, not "${url}".`)
  }
  const databaseUrl = text('DATABASE_URL', '')
  if (databaseUrl && !/^postgres(ql)?:/.test(databaseUrl)) {
    problems.push('DATABASE_URL must begin with postgres:// or postgresql://.')
  }
  const directUrl = text('MILLRACE_DATABASE_DIRECT_URL', '')
  if (directUrl && !/^postgres(ql)?:/.test(directUrl)) {
    problems.push('MILLRACE_DATABASE_DIRECT_URL must begin with postgres:// or postgresql://.')
  }
  if (directUrl && !databaseUrl) {
    problems.push(
      'MILLRACE_DATABASE_DIRECT_URL needs DATABASE_URL, the address of the pooler: set both or none.',
    )
  }
  const organizationSlug = text('MILLRACE_ORG', 'default')
  if (!/^[a-z0-9][a-z0-9-]{0,99}$/.test(organizationSlug)) {
    problems.push(`MILLRACE_ORG must be lower-case letters, digits and dashes, not "${organizationSlug}".`)
  }
  const firstToken = (name: string) => {
    const value = env[name]?.trim() || undefined
    if (value !== undefined && !/^[\x21-\x7e]{20,255}$/.test(value)) {
      problems.push(`${name} must be 20 to 255 printable characters without spaces.`)
    }
    return value
  }
  const keys = env['MILLRACE_SECRET_KEY']?.trim() || undefined
  if (keys?.split(',').some((key) => key.trim().length < 32)) {
    problems.push(
      'MILLRACE_SECRET_KEY must have at least 32 characters. A comma ends one key and begins the next (new,old), ' +
        'so no key can hold a comma, and each must be as long.',
    )
  }
  const metricsToken = env['MILLRACE_METRICS_TOKEN']?.trim() || undefined
  if (metricsToken !== undefined && !/^[\x21-\x7e]{16,255}$/.test(metricsToken)) {
    problems.push('MILLRACE_METRICS_TOKEN must be 16 to 255 printable characters without spaces.')
  }
  const smtpUrl = env['MILLRACE_SMTP_URL']?.trim() || undefined
  if (smtpUrl !== undefined && !(URL.canParse(smtpUrl) && /^smtps?:/.test(smtpUrl))) {
    problems.push('MILLRACE_SMTP_URL must look like smtp://user:password@host:587 or smtps://….')
  }
  const logLevel = text('MILLRACE_LOG_LEVEL', 'info')
  if (!logLevels.includes(logLevel)) {
    problems.push(`MILLRACE_LOG_LEVEL must be one of ${logLevels.join(', ')}, not "${logLevel}".`)
  }
  const config: Config = {
    host,
    port,
    url,
    dataDir: resolve(text('MILLRACE_DATA_DIR', './data')),
    database: databaseUrl
      ? { kind: 'url', url: databaseUrl, directUrl: directUrl || null }
      : { kind: 'embedded' },
    databaseConnections: integer('MILLRACE_DATABASE_CONNECTIONS', 20, 4, 1000),
    databaseLimits: {
      connectSeconds: integer('MILLRACE_DATABASE_CONNECT_SECONDS', 8, 1, 60),
      statementSeconds: integer('MILLRACE_DATABASE_STATEMENT_SECONDS', 10, 1, 600),
    },
    organizationSlug,
    roles: readRoles(text('MILLRACE_ROLES', roles.join(',')), problems),
    localAgents: integer('MILLRACE_AGENTS', 1, 0, 100),
    logLevel,
    // With the embedded database there is one process, so no balancer could send requests to another.
    drainSeconds: integer('MILLRACE_DRAIN_SECONDS', databaseUrl ? 5 : 0, 0, 300),
    trustedProxies: ranges('MILLRACE_TRUSTED_PROXIES'),
    webhookIps: ranges('MILLRACE_WEBHOOK_IPS'),
    outboundAllow: ranges('MILLRACE_OUTBOUND_ALLOW'),
    mailFrom: text('MILLRACE_MAIL_FROM', '') || null,
    eventBus: {
      endpoint: text('MILLRACE_EVENT_BUS_ENDPOINT', '').replace(/\/+$/, '') || null,
      name: text('MILLRACE_EVENT_BUS_NAME', 'default'),
      source: text('MILLRACE_EVENT_BUS_SOURCE', 'millrace'),
    },
    oauth: {
      chat_workspace: readOAuthApp(text, 'CHAT_WORKSPACE', chatSite, problems),
      issue_tracker: readOAuthApp(text, 'ISSUE_TRACKER', trackerSite, problems),
    },
    pagerUrl: readSafeUrl(text, 'MILLRACE_PAGER_URL', 'https://events.pagerduty.com', problems),
    unknownBodies: {
      seconds: integer('MILLRACE_UNKNOWN_BODY_SECONDS', 10, 1, 3600),
      most: integer('MILLRACE_UNKNOWN_BODIES', 500, 1, 100_000),
    },
    rateLimits: {
      counted: rateLimitCounts('MILLRACE_RATE_LIMIT'),
      organizationPerMinute: integer('MILLRACE_RATE_LIMIT_ORGANIZATION', 60_000, 1, 10_000_000),
      userPerMinute: integer('MILLRACE_RATE_LIMIT_USER', 30_000, 1, 10_000_000),
    },
    metrics: {
      listen: readListen('MILLRACE_METRICS_LISTEN', text('MILLRACE_METRICS_LISTEN', ''), host, problems),
      queues: integer('MILLRACE_METRICS_QUEUES', 200, 0, 10_000),
    },
    // Less than a minute, so that a schedule of every minute misses none.
    scheduleSpreadSeconds: integer('MILLRACE_SCHEDULE_SPREAD_SECONDS', 10, 0, 50),
    traces: readTraces(text, problems),
    timers: {
      agentLostSeconds: integer('MILLRACE_AGENT_LOST_SECONDS', 180, 1, 86_400),
      acceptSeconds: integer('MILLRACE_ACCEPT_SECONDS', 60, 1, 86_400),
      cancelGraceSeconds: integer('MILLRACE_CANCEL_GRACE_SECONDS', 60, 1, 86_400),
      jobExpiryDays: integer('MILLRACE_JOB_EXPIRY_DAYS', 30, 1, 3650),
      pingHoldSeconds: integer('MILLRACE_PING_HOLD_SECONDS', 4, 0, 30),
    },
    blobs: readBlobs(text('MILLRACE_BLOBS', ''), problems),
    hosted: readHosted({ text, integer, flag, ranges, problems }, url),
    logMaxBytes: integer('MILLRACE_LOG_MAX_BYTES', 1024 ** 3, 1, 16 * 1024 ** 3),
    retention: {
      build_days: integer('MILLRACE_BUILD_DAYS', 365, 0, mostDays),
      log_days: integer('MILLRACE_LOG_DAYS', 0, 0, mostDays),
      artifact_days: integer('MILLRACE_ARTIFACT_DAYS', 90, 0, mostDays),
      archive_days: integer('MILLRACE_ARCHIVE_DAYS', 3650, 0, mostDays),
      keep_newest_builds: integer('MILLRACE_KEEP_NEWEST_BUILDS', 100, 0, mostKeptBuilds),
      archive_builds: flag('MILLRACE_ARCHIVE_BUILDS', 'on'),
    },
    caches: {
      entryBytes: integer('MILLRACE_CACHE_ENTRY_GB', 20, 0, 1000) * 1024 ** 3,
      pipelineBytes: integer('MILLRACE_CACHE_PIPELINE_GB', 20, 1, 100_000) * 1024 ** 3,
      organizationBytes: integer('MILLRACE_CACHE_ORGANIZATION_GB', 100, 1, 1_000_000) * 1024 ** 3,
      days: integer('MILLRACE_CACHE_DAYS', 14, 1, 3650),
    },
    // Agents cut a file into equal parts, and S3 accepts parts from 5 MiB to 5 GiB.
    artifactPartBytes: integer('MILLRACE_ARTIFACT_PART_MIB', 64, 10, 5 * 1024) * 1024 ** 2,
    agentDays: integer('MILLRACE_AGENT_DAYS', 30, 1, 36_500),
    eventDays: integer('MILLRACE_EVENT_DAYS', 14, 1, 3650),
    auditDays: integer('MILLRACE_AUDIT_DAYS', 730, 1, 36_500),
    deepestListing: integer('MILLRACE_DEEPEST_LISTING', 10_000, 100, 10_000_000),
    pollDirectories: text('MILLRACE_POLL_DIRECTORIES', '')
      .split(':')
      .filter(Boolean)
      .map((path) => resolve(path)),
    secrets: {
      keys,
      adminToken: firstToken('MILLRACE_ADMIN_TOKEN'),
      agentToken: firstToken('MILLRACE_AGENT_TOKEN'),
      metricsToken,
      traceHeaders: readPairs(
        text(
          'MILLRACE_TRACES_HEADERS',
          text('OTEL_EXPORTER_OTLP_TRACES_HEADERS', text('OTEL_EXPORTER_OTLP_HEADERS', '')),
        ),
      ),
      smtpUrl,
      oauth: {
        chat_workspace: text('MILLRACE_CHAT_WORKSPACE_CLIENT_SECRET', ''),
        issue_tracker: text('MILLRACE_ISSUE_TRACKER_CLIENT_SECRET', ''),
      },
      s3: readS3Credentials(env),
    },
  }
  if ((smtpUrl === undefined) !== (config.mailFrom === null)) {
    problems.push('MILLRACE_SMTP_URL and MILLRACE_MAIL_FROM belong together: set both or none.')
  }
  const { endpoint } = config.eventBus
  if (endpoint !== null && !(URL.canParse(endpoint) && /^https?:/.test(endpoint))) {
    problems.push(`MILLRACE_EVENT_BUS_ENDPOINT must be an http or https address, not "${endpoint}".`)
  }
  if (config.blobs.kind === 's3' && !(config.secrets.s3.accessKeyId && config.secrets.s3.secretAccessKey)) {
    problems.push('MILLRACE_BLOBS is in S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.')
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, config: Object.freeze(config) }
}

type Site = Omit<OAuthApp, 'clientId' | 'issuer'>

const chatSite: Site = {
  scopes: 'chat:write,chat:write.public',
  authorizeUrl: 'https://slack.com/oauth/v2/authorize',
  tokenUrl: 'https://slack.com/api/oauth.v2.access',
  revokeUrl: 'https://slack.com/api/auth.revoke',
  apiUrl: 'https://slack.com/api',
}

const trackerSite: Site = {
  scopes: 'read,write',
  authorizeUrl: 'https://linear.app/oauth/authorize',
  tokenUrl: 'https://api.linear.app/oauth/token',
  revokeUrl: 'https://api.linear.app/oauth/revoke',
  apiUrl: 'https://api.linear.app/graphql',
}

/** Reads an app registered at a site. The URLs may be those of a compatible site. */
function readOAuthApp(text: ReadText, name: string, site: Site, problems: string[]): OAuthApp | null {
  const prefix = `MILLRACE_${name}`
  const clientId = text(`${prefix}_CLIENT_ID`, '')
  const hasSecret = text(`${prefix}_CLIENT_SECRET`, '') !== ''
  if ((clientId === '') !== !hasSecret) {
    problems.push(`${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET belong together: set both or none.`)
  }
  if (clientId === '') return null
  const url = (end: string, fallback: string) => readSafeUrl(text, `${prefix}_${end}`, fallback, problems)
  const authorizeUrl = url('AUTHORIZE_URL', site.authorizeUrl)
  const origin = URL.canParse(authorizeUrl) ? new URL(authorizeUrl).origin : authorizeUrl
  return {
    clientId,
    scopes: text(`${prefix}_SCOPES`, site.scopes),
    issuer: text(`${prefix}_ISSUER`, origin),
    authorizeUrl,
    tokenUrl: url('TOKEN_URL', site.tokenUrl),
    revokeUrl: url('REVOKE_URL', site.revokeUrl),
    apiUrl: url('API_URL', site.apiUrl),
  }
}

/** The settings of OpenTelemetry count where ours are absent. */
function readTraces(text: ReadText, problems: string[]): Config['traces'] {
  const own = text('MILLRACE_TRACES_ENDPOINT', '')
  const base = own || text('OTEL_EXPORTER_OTLP_ENDPOINT', '')
  const whole = own ? '' : text('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', '')
  const given = whole || base
  if (given === '') return null
  if (!URL.canParse(given) || !/^https?:/.test(given)) {
    problems.push(`MILLRACE_TRACES_ENDPOINT must be an http or https address, not "${given}".`)
    return null
  }
  const url = new URL(given)
  if (!whole && !url.pathname.endsWith('/v1/traces'))
    url.pathname = url.pathname.replace(/\/*$/, '/v1/traces')
  const sample = Number(text('MILLRACE_TRACES_SAMPLE', '1'))
  if (!(sample >= 0 && sample <= 1)) {
    problems.push(
      `MILLRACE_TRACES_SAMPLE must be a number from 0 to 1, not "${text('MILLRACE_TRACES_SAMPLE', '')}".`,
    )
  }
  const name = text('OTEL_SERVICE_NAME', '')
  const attributes = readPairs(text('OTEL_RESOURCE_ATTRIBUTES', ''))
  return { url: url.href, sample, resource: { ...attributes, ...(name ? { 'service.name': name } : {}) } }
}

/** `name=value,other=value`, with values encoded like in a URL. */
const readPairs = (given: string): Record<string, string> =>
  Object.fromEntries(
    given
      .split(',')
      .map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair))
      .flatMap((match) => (match === null ? [] : [[match[1] ?? '', decoded(match[2] ?? '')]])),
  )

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** `9464`, `0.0.0.0:9464` or `[::]:9464`; empty: nowhere. */
function readListen(
  name: string,
  given: string,
  usualHost: string,
  problems: string[],
): { host: string; port: number } | null {
  if (given === '') return null
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]+)\]|([^:]+)):)?(\d{1,5})$/.exec(given) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535) {
    problems.push(`${name} must be a port, or an address and a port such as 0.0.0.0:9464, not "${given}".`)
    return null
  }
  return { host: bracketed ?? plain ?? usualHost, port }
}

/** Secrets are sent to it, so it must use TLS or be on this machine. */
function readSafeUrl(text: ReadText, name: string, fallback: string, problems: string[]): string {
  const url = text(name, fallback).replace(/\/+$/, '')
  const isSafe = URL.canParse(url) && (url.startsWith('https:') || isLoopback(new URL(url)))
  if (!isSafe) problems.push(`${name} must be an https address (or http on this machine), not "${url}".`)
  return url
}

const isLoopback = ({ protocol, hostname }: URL) =>
  protocol === 'http:' && /^(127(\.\d+){3}|localhost|\[::1\])$/.test(hostname)

/** `s3://bucket/prefix?endpoint=https://host:port&region=eu-west-1&direct=on`; empty: on disk. */
function readBlobs(text: string, problems: string[]): Config['blobs'] {
  if (text === '') return { kind: 'disk' }
  const url = URL.canParse(text) ? new URL(text) : null
  const endpoint = url?.searchParams.get('endpoint')?.replace(/\/+$/, '') || null
  const prefix = url?.pathname.replace(/^\/+|\/+$/g, '') ?? ''
  if (url?.protocol !== 's3:' || url.hostname === '' || !/^[\w./-]*$/.test(prefix)) {
    problems.push(
      'MILLRACE_BLOBS must look like s3://bucket/prefix?region=eu-west-1 (or be absent: on disk).',
    )
    return { kind: 'disk' }
  }
  if (endpoint !== null && !(URL.canParse(endpoint) && /^https?:/.test(endpoint))) {
    problems.push('The endpoint in MILLRACE_BLOBS must be an http or https address.')
  }
  return {
    kind: 's3',
    bucket: url.hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region: url.searchParams.get('region') || 'us-east-1',
    endpoint,
    direct: ['on', 'true', '1'].includes(url.searchParams.get('direct')?.toLowerCase() ?? ''),
  }
}

const readS3Credentials = (env: Record<string, string | undefined>): S3Credentials => ({
  accessKeyId: env['AWS_ACCESS_KEY_ID']?.trim() ?? '',
  secretAccessKey: env['AWS_SECRET_ACCESS_KEY']?.trim() ?? '',
  sessionToken: env['AWS_SESSION_TOKEN']?.trim() || undefined,
})

function readRoles(text: string, problems: string[]): Role[] {
  const wanted = text
    .split(',')
    .map((role) => role.trim())
    .filter(Boolean)
  const unknown = wanted.filter((role) => !roles.some((known) => known === role))
  if (unknown.length > 0) {
    problems.push(`MILLRACE_ROLES may name ${roles.join(', ')}; it has "${unknown.join(', ')}".`)
  }
  return roles.filter((role) => wanted.includes(role))
}
