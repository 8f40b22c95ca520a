// The only reader of the environment. Returns one frozen object, or every problem at once.
import { resolve } from 'node:path'
import { readRanges } from './lib/ip-ranges.ts'

export const roles = ['api', 'worker', 'agent'] as const
export type Role = (typeof roles)[number]

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

export interface Config {
  readonly host: string
  readonly port: number
  /** Without a trailing slash: every URL in an answer begins with it. */
  readonly url: string
  readonly dataDir: string
  readonly database: { kind: 'embedded' } | { kind: 'url'; url: string }
  readonly organizationSlug: string
  readonly roles: readonly Role[]
  /** How many agents the agent role runs. */
  readonly localAgents: number
  readonly logLevel: string
  /** Proxies whose X-Forwarded-For is believed; empty: none. */
  readonly trustedProxies: readonly string[]
  /** The ranges our webhooks come from, for receivers to allow. */
  readonly webhookIps: readonly string[]
  /** Ranges that URLs set by users may lead to although they are not public. */
  readonly outboundAllow: readonly string[]
  /** Who mails come from; null: none are sent. */
  readonly mailFrom: string | null
  /** Where the events of cloud_event_bus services go. */
  readonly eventBus: {
    /** null: Amazon's own, by region. */
    readonly endpoint: string | null
    /** The bus of the account that a service names. */
    readonly name: string
    /** Who says it. */
    readonly source: string
  }
  readonly rateLimits: {
    readonly enforced: boolean
    readonly organizationPerMinute: number
    readonly userPerMinute: number
  }
  readonly timers: Timers
  readonly blobs: { readonly kind: 'disk' } | S3Settings
  /** null: no hosted clusters. */
  readonly hosted: HostedSettings | null
  /** Of one job's log; what comes after is thrown away. */
  readonly logMaxBytes: number
  /** How long artifacts are kept. */
  readonly artifactDays: number
  /** How long an agent that is gone, and ran none of the jobs there are, is remembered. */
  readonly agentDays: number
  /** The deepest row that page numbers reach in a list of builds; beyond it the caller narrows, or follows cursors. */
  readonly deepestListing: number
  /** Directories whose repositories may be polled; empty: none on this machine's disk. */
  readonly pollDirectories: readonly string[]
  readonly secrets: {
    /** Absent: made once and kept in the data directory. Several, separated by commas: the first seals, all open. */
    readonly keys: string | undefined
    readonly adminToken: string | undefined
    /** The server that takes mails, with the password for it. */
    readonly smtpUrl: string | undefined
    /** Empty unless blobs lie in S3. */
    readonly s3: S3Credentials
  }
}

export interface S3Settings {
  readonly kind: 's3'
  readonly bucket: string
  /** '' or with a slash at its end. */
  readonly prefix: string
  readonly region: string
  /** null: Amazon's own. Given: the bucket is the first part of the path. */
  readonly endpoint: string | null
  /** Whether clients are sent to the store itself, or everything goes through this server. */
  readonly direct: boolean
}

export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

export interface HostedSettings {
  readonly engine: HostedEngine
  /** The agent API, as containers reach it. */
  readonly endpoint: string
  /** What every agent image begins with, and what runs where a queue names none. */
  readonly baseImage: string
  /** What the names of built images begin with. */
  readonly registry: string
  /** How many images one worker builds at once, and how long each may take. */
  readonly imageBuilds: number
  readonly imageBuildMinutes: number
  /** How many containers wait for jobs, per hosted queue that has had one lately. */
  readonly warmAgents: number
  /** How many vCPUs all containers have together. */
  readonly mostCpus: number
  /** How much the cache volumes of one cluster may hold. */
  readonly cacheLimitMb: number
  /** `host:port` that containers reach although it is on the engine's machine; null: they reach everything there. */
  readonly allowed: readonly string[] | null
}

export interface HostedEngine {
  readonly kind: 'docker'
  readonly socketPath: string
}

export interface Timers {
  readonly agentLostSeconds: number
  readonly acceptSeconds: number
  readonly cancelGraceSeconds: number
  readonly jobExpiryDays: number
  /** How long a ping waits for something to do. */
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
  const flag = (name: string) => {
    const value = text(name, 'off').toLowerCase()
    if (['on', 'true', '1'].includes(value)) return true
    if (!['off', 'false', '0'].includes(value)) problems.push(`${name} must be on or off, not "${value}".`)
    return false
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
  const organizationSlug = text('MILLRACE_ORG', 'default')
  if (!/^[a-z0-9][a-z0-9-]{0,99}$/.test(organizationSlug)) {
    problems.push(`MILLRACE_ORG must be lower-case letters, digits and dashes, not "${organizationSlug}".`)
  }
  const adminToken = env['MILLRACE_ADMIN_TOKEN']?.trim() || undefined
  if (adminToken !== undefined && !/^[\x21-\x7e]{20,255}$/.test(adminToken)) {
    problems.push('MILLRACE_ADMIN_TOKEN must be 20 to 255 printable characters without spaces.')
  }
  const keys = env['MILLRACE_SECRET_KEY']?.trim() || undefined
  if (keys !== undefined && keys.split(',').some((key) => key.trim().length < 32)) {
    problems.push(
      'MILLRACE_SECRET_KEY must have at least 32 characters (for each key, when several are given).',
    )
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
    database: databaseUrl ? { kind: 'url', url: databaseUrl } : { kind: 'embedded' },
    organizationSlug,
    roles: readRoles(text('MILLRACE_ROLES', roles.join(',')), problems),
    localAgents: integer('MILLRACE_AGENTS', 1, 0, 100),
    logLevel,
    trustedProxies: ranges('MILLRACE_TRUSTED_PROXIES'),
    webhookIps: ranges('MILLRACE_WEBHOOK_IPS'),
    outboundAllow: ranges('MILLRACE_OUTBOUND_ALLOW'),
    mailFrom: text('MILLRACE_MAIL_FROM', '') || null,
    eventBus: {
      endpoint: text('MILLRACE_EVENT_BUS_ENDPOINT', '').replace(/\/+$/, '') || null,
      name: text('MILLRACE_EVENT_BUS_NAME', 'default'),
      source: text('MILLRACE_EVENT_BUS_SOURCE', 'millrace'),
    },
    rateLimits: {
      enforced: flag('MILLRACE_RATE_LIMIT'),
      organizationPerMinute: integer('MILLRACE_RATE_LIMIT_ORGANIZATION', 200, 1, 10_000_000),
      userPerMinute: integer('MILLRACE_RATE_LIMIT_USER', 50, 1, 10_000_000),
    },
    timers: {
      agentLostSeconds: integer('MILLRACE_AGENT_LOST_SECONDS', 180, 1, 86_400),
      acceptSeconds: integer('MILLRACE_ACCEPT_SECONDS', 60, 1, 86_400),
      cancelGraceSeconds: integer('MILLRACE_CANCEL_GRACE_SECONDS', 60, 1, 86_400),
      jobExpiryDays: integer('MILLRACE_JOB_EXPIRY_DAYS', 30, 1, 3650),
      pingHoldSeconds: integer('MILLRACE_PING_HOLD_SECONDS', 4, 0, 30),
    },
    blobs: readBlobs(text('MILLRACE_BLOBS', ''), problems),
    hosted: readHosted(text, integer, url, problems),
    logMaxBytes: integer('MILLRACE_LOG_MAX_BYTES', 1024 ** 3, 1, 16 * 1024 ** 3),
    artifactDays: integer('MILLRACE_ARTIFACT_DAYS', 90, 1, 36_500),
    agentDays: integer('MILLRACE_AGENT_DAYS', 30, 1, 36_500),
    deepestListing: integer('MILLRACE_DEEPEST_LISTING', 10_000, 100, 10_000_000),
    pollDirectories: text('MILLRACE_POLL_DIRECTORIES', '')
      .split(':')
      .filter(Boolean)
      .map((path) => resolve(path)),
    secrets: { keys, adminToken, smtpUrl, s3: readS3Credentials(env) },
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

/** `s3://bucket/prefix?endpoint=https://host:port&region=eu-west-1&direct=on`; nothing: on disk. */
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

/** `docker:///var/run/docker.sock`, which may be Podman's; nothing: none. */
function readHosted(
  text: (name: string, fallback: string) => string,
  integer: (name: string, fallback: number, min: number, max: number) => number,
  url: string,
  problems: string[],
): HostedSettings | null {
  const given = text('MILLRACE_HOSTED', '')
  if (given === '') return null
  const engine = readEngine(given)
  if (engine === null) {
    problems.push(
      given.startsWith('kubernetes:')
        ? 'MILLRACE_HOSTED names Kubernetes, for which this version has no driver: give it the socket of a container engine, such as docker:///var/run/docker.sock.'
        : 'MILLRACE_HOSTED must look like docker:///var/run/docker.sock (or be absent: no hosted clusters).',
    )
    return null
  }
  const endpoint = text('MILLRACE_HOSTED_ENDPOINT', `${url}/v3`).replace(/\/+$/, '')
  if (!URL.canParse(endpoint) || !/^https?:/.test(endpoint)) {
    problems.push(`MILLRACE_HOSTED_ENDPOINT must be an http or https address, not "${endpoint}".`)
  }
  const registry = text('MILLRACE_HOSTED_REGISTRY', 'localhost/millrace')
  if (!/^[a-z0-9][a-z0-9.-]*(:\d+)?(\/[a-z0-9]+([._-][a-z0-9]+)*)*$/.test(registry)) {
    problems.push(`MILLRACE_HOSTED_REGISTRY must look like registry.example.com/millrace, not "${registry}".`)
  }
  const baseImage = text('MILLRACE_HOSTED_BASE_IMAGE', 'docker.io/library/buildpack-deps:bookworm-scm')
  if (!/^[\w.:/@-]+$/.test(baseImage)) {
    problems.push(`MILLRACE_HOSTED_BASE_IMAGE must be the name of an image, not "${baseImage}".`)
  }
  return {
    engine,
    endpoint,
    baseImage,
    registry,
    imageBuilds: integer('MILLRACE_HOSTED_IMAGE_BUILDS', 2, 1, 100),
    imageBuildMinutes: integer('MILLRACE_HOSTED_IMAGE_BUILD_MINUTES', 30, 1, 1440),
    warmAgents: integer('MILLRACE_HOSTED_WARM_AGENTS', 1, 0, 100),
    mostCpus: integer('MILLRACE_HOSTED_CPUS', 64, 2, 1_000_000),
    cacheLimitMb: integer('MILLRACE_HOSTED_CACHE_GB', 100, 1, 1_000_000) * 1024,
    allowed: readAllowed(text('MILLRACE_HOSTED_ALLOW', ''), [endpoint, url], problems),
  }
}

/** The server itself is always among them. */
function readAllowed(given: string, servers: readonly string[], problems: string[]): string[] | null {
  if (given === '*') return null
  const named = given
    .split(',')
    .map((place) => place.trim())
    .filter(Boolean)
  const wrong = named.filter((place) => !/^[\w.-]+:\d{1,5}$/.test(place))
  if (wrong.length > 0) {
    problems.push(
      `MILLRACE_HOSTED_ALLOW must list places like 10.0.0.5:443, or be * for no fence; it has "${wrong.join(', ')}".`,
    )
  }
  const own = servers.filter((server) => URL.canParse(server)).map(placeOf)
  return [...new Set([...own, ...named])]
}

function placeOf(address: string): string {
  const { hostname, port, protocol } = new URL(address)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

function readEngine(text: string): HostedEngine | null {
  const [, socketPath] = /^(?:docker|unix):\/\/(\/[^?#]+)$/.exec(text) ?? []
  return socketPath === undefined ? null : { kind: 'docker', socketPath }
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
