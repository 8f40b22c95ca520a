// The REST API of the server that the user is logged in to.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Organization, Pipeline } from '@millrace/server/wire.ts'
import { errorCode } from '../error-code.ts'
import { Refused } from '../refused.ts'
import type { ClientOptions } from './command.ts'
import { exchange, type Answer, type Exchange } from './exchange.ts'
import { describeRefusal, RefusedByServer } from './failures.ts'
import { findAccess, type Access } from './profiles.ts'
import { renewIfDue, takeStored } from './renew.ts'
import { oneLine } from './text.ts'

/** Paths are below the organization, or whole if they begin with /v2. The caller encodes what it puts into them. */
export interface Api {
  url: string
  org: string
  get<T>(path: string): Promise<T>
  post<T>(path: string, body?: object): Promise<T>
  put<T>(path: string, body?: object): Promise<T>
  patch<T>(path: string, body?: object): Promise<T>
  delete<T>(path: string, body?: object): Promise<T>
  /** The items of a list, page after page as they are asked for. */
  pages<T>(path: string): AsyncGenerator<T>
  /** For logs, artifacts and event streams. The response is a good one. */
  stream(path: string, options?: StreamOptions): Promise<Response>
}

interface StreamOptions {
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Asks the server for the organization if neither the options, the environment nor the profile name one. */
export async function openApi(options: ClientOptions): Promise<Api> {
  const access = findAccess(options)
  return apiOf(access, access.org ?? (await findOnlyOrganization(access)))
}

/** For requests outside of an organization. */
export function apiOf(access: Access, org = ''): Api {
  const addressOf = (path: string): string => {
    if (path.startsWith('/v2')) return `${access.url}${path}`
    const below = path === '' || path.startsWith('/') || path.startsWith('?') ? path : `/${path}`
    return `${access.url}/v2/organizations/${encodeURIComponent(org)}${below}`
  }
  const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const response = await send(access, addressOf(path), { method, body }, exchange)
    return readJson<T>(access, response)
  }
  return {
    url: access.url,
    org,
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    patch: (path, body) => call('PATCH', path, body),
    delete: (path, body) => call('DELETE', path, body),
    pages: (path) => listPages(access, addressOf(path)),
    stream: (path, options = {}) => send(access, addressOf(path), { method: 'GET', ...options }, fetch),
  }
}

export async function listOrganizations(access: Access): Promise<Organization[]> {
  return listAll(apiOf(access).pages<Organization>('/v2/organizations'))
}

/** At most so many items; all without a limit. */
export async function listAll<T>(items: AsyncIterable<T>, limit = Infinity): Promise<T[]> {
  const all: T[] = []
  if (limit === 0) return all
  for await (const item of items) {
    all.push(item)
    if (all.length >= limit) break
  }
  return all
}

async function findOnlyOrganization(access: Access): Promise<string> {
  const slugs = (await listOrganizations(access)).map(({ slug }) => slug)
  const [only, ...others] = slugs
  if (only === undefined) throw new Refused(`The token ${access.source} reaches no organization.`)
  if (others.length === 0) return only
  throw new Refused(
    `You have several organizations: ${slugs.map(oneLine).join(', ')}. Choose one with --org or MILLRACE_ORG.`,
  )
}

async function* listPages<T>(access: Access, first: string): AsyncGenerator<T> {
  for (let address: string | null = withPageSize(first); address !== null;) {
    const response: Answer = await send(access, address, { method: 'GET' }, exchange)
    const body: T[] | { items: T[] } = await readJson<T[] | { items: T[] }>(access, response)
    yield* Array.isArray(body) ? body : body.items
    address = nextPage(access, response.headers.get('Link'))
  }
}

function withPageSize(address: string): string {
  return /[?&]per_page=/.test(address)
    ? address
    : `${address}${address.includes('?') ? '&' : '?'}per_page=100`
}

/** Only the path of a link is used, because the server may know itself by another name than the user does. */
function nextPage(access: Access, link: string | null): string | null {
  const [, found] = /<([^>]+)>;\s*rel="next"/.exec(link ?? '') ?? []
  if (found === undefined) return null
  const { pathname, search } = new URL(found, access.url)
  return `${access.url}${pathname.slice(Math.max(0, pathname.indexOf('/v2/')))}${search}`
}

interface Sent {
  method: string
  body?: object | undefined
  headers?: Record<string, string>
  signal?: AbortSignal
}

const ATTEMPTS = 4
const MOST_WAIT_SECONDS = 60

/**
 * Repeats a request that the server was too busy for. Reads and requests with an idempotency key are also repeated after a
 * lost connection.
 */
async function send<A extends Answer>(
  access: Access,
  address: string,
  { method, body, headers = {}, signal }: Sent,
  transport: (address: string, init: Exchange) => Promise<A>,
): Promise<A> {
  const hasKey = method === 'POST' || method === 'PUT'
  await renewIfDue(access)
  const init: Exchange = {
    method,
    headers: {
      Authorization: `Bearer ${access.token}`,
      'User-Agent': 'millrace-cli',
      Accept: 'application/json',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(hasKey ? { 'Idempotency-Key': randomUUID() } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === ATTEMPTS
    let response: A
    try {
      response = await transport(address, init)
    } catch (error) {
      if (signal?.aborted) throw error
      const code = causeOf(error)
      const mayRepeat = code === 'ECONNRESET' || code === 'UND_ERR_SOCKET'
      if (isLast || !mayRepeat || !(hasKey || method === 'GET')) throw noConnection(access, code)
      await pause(attempt * 200, undefined, signal === undefined ? {} : { signal })
      continue
    }
    if (response.ok) return response
    // Another command has renewed the token.
    if (response.status === 401 && !isLast && takeStored(access)) {
      await response.text()
      init.headers['Authorization'] = `Bearer ${access.token}`
      continue
    }
    const isBusy = response.status === 429 || response.status === 503
    const wait = Number(response.headers.get('Retry-After') ?? '1')
    if (!isBusy || isLast || !(wait <= MOST_WAIT_SECONDS)) throw await refusalOf(access, address, response)
    await response.text()
    await pause(wait * 1000, undefined, signal === undefined ? {} : { signal })
  }
}

async function readJson<T>(access: Access, response: Answer): Promise<T> {
  const text = await response.text()
  if (text === '') return undefined as T
  try {
    return JSON.parse(text) as T
  } catch {
    throw new Refused(
      `${access.url} answers, but not like a Millrace server. Log in with its URL: millrace login --url URL`,
    )
  }
}

async function refusalOf(access: Access, address: string, response: Answer): Promise<RefusedByServer> {
  const location = response.headers.get('Location')
  if (response.status >= 300 && response.status < 400 && location !== null) {
    const { origin } = new URL(location, address)
    return new RefusedByServer(
      response.status,
      `${access.url} redirects to ${oneLine(location)}: log in with millrace login --url ${oneLine(origin)}.`,
    )
  }
  const text = await response.text()
  return describeRefusal({
    access,
    path: new URL(address).pathname,
    status: response.status,
    text,
    requestId: response.headers.get('X-Request-Id'),
    listOrganizations: () => listOrganizations(access),
    listPipelines: (org) => listAll(apiOf(access, org).pages<Pipeline>('pipelines')),
  })
}

function causeOf(error: unknown): string {
  const cause: unknown = (error instanceof Error ? error.cause : undefined) ?? error
  // Every address of a name was tried.
  const [first] = cause instanceof AggregateError ? (cause.errors as unknown[]) : []
  return errorCode(first ?? cause)
}

function noConnection({ url }: Access, code: string): Refused {
  const reason = CONNECTION_PROBLEMS[code] ?? 'the request failed'
  return new Refused(
    `No connection to ${url}: ${reason} (${oneLine(code)}). ` +
      'Start that server, or choose another: millrace login --url URL, --profile NAME or MILLRACE_URL.',
  )
}

const CONNECTION_PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be resolved now',
  ETIMEDOUT: 'the host does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'the host does not answer',
  EHOSTUNREACH: 'there is no route to the host',
  ENETUNREACH: 'there is no network',
  ECONNRESET: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'its certificate is signed by itself, and NODE_EXTRA_CA_CERTS does not name it',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate authority is unknown, and NODE_EXTRA_CA_CERTS does not name it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate authority is unknown, and NODE_EXTRA_CA_CERTS does not name it',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak https; is it http?',
}
