// The HTTP client for URLs that users set. It resolves a name once, connects to the address that it has checked, follows
// no redirects and reads only the beginning of a response. So a receiver cannot redirect it into the operator's network,
// fill its memory or hold it longer than the timeout.
import { isIP } from 'node:net'
import type { Readable } from 'node:stream'
import type { Agent, buildConnector } from 'undici'
import { isInRanges } from './ip-ranges.ts'
import { mayReach } from './outbound-addresses.ts'
import { exchange, TooLate, type ExchangeLimits } from './outbound-exchange.ts'
import { resolveName, unreachable, type Resolve } from './reachable.ts'

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
  /** Whether the receiver's certificate must be valid. Default true. */
  tlsVerify?: boolean
  /** How much of the response is read, if more than the default. */
  keptBytes?: number
}

export interface OutboundResponse {
  status: number
  headers: Record<string, string>
  /** The beginning of the body. */
  body: Buffer
  /** Whether the body was longer. */
  isCut: boolean
}

/** For a response of any length, such as a repository. */
interface StreamRequest extends Pick<OutboundRequest, 'url' | 'headers' | 'body'> {
  method: 'GET' | 'POST'
  /** Connects only to addresses that the operator allows by name, for what may not go over the internet. */
  staysPrivate: boolean
  signal: AbortSignal
}

interface StreamResponse extends Pick<OutboundResponse, 'status' | 'headers'> {
  body: Readable
}

/** `refused`: the address is not allowed, so retrying is useless. */
export class OutboundError extends Error {
  readonly kind: 'refused' | 'failed'

  constructor(kind: 'refused' | 'failed', message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

export interface OutboundClient {
  /** Returns any status of the receiver. Throws an OutboundError when there is no response. */
  send(request: OutboundRequest): Promise<OutboundResponse>
  /** The same with a body that the caller reads or destroys. */
  open(request: StreamRequest): Promise<StreamResponse>
  close(): Promise<void>
}

export interface OutboundOptions extends Partial<ExchangeLimits> {
  /** Ranges that are allowed although they are not public, separated by spaces. */
  allow: string
  resolve?: Resolve
}

interface Kind {
  tlsVerify: boolean
  staysPrivate: boolean
}

/** A host that packs a large repository says nothing for a while. */
const streamMs = 60_000

/** How many addresses of a name are tried. */
const mostAddresses = 3

export function outboundClient({
  allow,
  resolve = resolveName,
  timeoutMs = 10_000,
  bodyMs = 2000,
  keptBytes = 16_384,
}: OutboundOptions): OutboundClient {
  // Loading undici takes a twentieth of the start, so the first request loads it.
  const makeAgent = async ({ tlsVerify: rejectUnauthorized, staysPrivate }: Kind): Promise<Agent> => {
    const undici = await import('undici')
    const connect = undici.buildConnector({ rejectUnauthorized, timeout: timeoutMs / 2 })
    return new undici.Agent({
      connect: guarded(connect, resolve, (address) =>
        staysPrivate ? isInRanges(address, allow) : mayReach(address, allow),
      ),
      // One connection per request in flight, so that tenants with the same host never wait for each other. The callers
      // limit the number of requests.
      connections: null,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: 16_384,
    })
  }
  const agents = new Map<string, Promise<Agent>>()
  const agentWith = (kind: Kind): Promise<Agent> => {
    const key = `${kind.tlsVerify} ${kind.staysPrivate}`
    const agent = agents.get(key) ?? makeAgent(kind)
    agents.set(key, agent)
    return agent
  }

  return {
    async send({ method, url, headers, body, tlsVerify = true, keptBytes: asked = keptBytes }) {
      const { origin, pathname, search } = readUrl(url)
      try {
        const { headers: answered, ...answer } = await exchange(
          await agentWith({ tlsVerify, staysPrivate: false }),
          {
            origin,
            path: pathname + search,
            method,
            headers: { 'User-Agent': 'Millrace', ...headers },
            body,
          },
          { timeoutMs, bodyMs, keptBytes: asked },
        )
        return { ...answer, headers: flat(answered) }
      } catch (error) {
        throw explained(error, timeoutMs)
      }
    },
    async open({ method, url, headers, body, staysPrivate, signal }) {
      const { origin, pathname, search } = readUrl(url)
      try {
        const agent = await agentWith({ tlsVerify: true, staysPrivate })
        const answer = await agent.request({
          origin,
          path: pathname + search,
          method,
          headers: { 'User-Agent': 'Millrace', ...headers },
          body,
          headersTimeout: streamMs,
          bodyTimeout: streamMs,
          signal,
        })
        return { status: answer.statusCode, headers: flat(answer.headers), body: answer.body }
      } catch (error) {
        throw explained(error, streamMs)
      }
    },
    async close() {
      await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))
    },
  }
}

/** Whether the client accepts the URL. The address is checked when a request is sent. */
export function isOutboundUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hostname } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' && hostname !== ''
}

function readUrl(text: string): URL {
  if (isOutboundUrl(text)) return new URL(text)
  throw new OutboundError('refused', 'The address is not an http or https URL without a user name in it.')
}

/** Connects to addresses that were checked, never to a name. */
function guarded(
  connect: buildConnector.connector,
  resolve: Resolve,
  isAllowed: (address: string) => boolean,
): buildConnector.connector {
  const connectTo = (options: buildConnector.Options, address: string) =>
    new Promise<Outcome>((done) => {
      // The certificate is still verified for the name in `host`.
      connect({ ...options, hostname: address }, (...outcome) => done(outcome))
    })
  const find = async (options: buildConnector.Options): Promise<Outcome> => {
    const addresses = await addressesOf(options.hostname, resolve)
    const reachable = addresses.filter(isAllowed).slice(0, mostAddresses)
    let outcome: Outcome = [refusal(options.hostname), null]
    for (const address of reachable) {
      outcome = await connectTo(options, address)
      if (outcome[0] === null) return outcome
    }
    return outcome
  }
  const answer = async (options: buildConnector.Options, callback: buildConnector.Callback) => {
    const outcome = await find(options).catch((error: unknown): Outcome => [error as Error, null])
    callback(...outcome)
  }
  return (options, callback) => void answer(options, callback)
}

type Outcome = Parameters<buildConnector.Callback>

async function addressesOf(hostname: string, resolve: Resolve): Promise<string[]> {
  // IPv6 addresses are in brackets in URLs.
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(bare) !== 0) return [bare]
  return resolve(hostname)
}

const refusal = (hostname: string) => new OutboundError('refused', unreachable(hostname.slice(0, 255)))

const flat = (headers: Record<string, string | string[] | undefined>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]))

function explained(error: unknown, timeoutMs: number): OutboundError {
  if (error instanceof OutboundError) return error
  const code = error instanceof Error ? String(Reflect.get(error, 'code')) : ''
  if (error instanceof TooLate || timeouts.has(code))
    return new OutboundError('failed', `No answer within ${timeoutMs / 1000} seconds.`, error)
  const known = sentences[code]
  if (known !== undefined) return new OutboundError('failed', known, error)
  const message = error instanceof Error ? error.message : String(error)
  return new OutboundError('failed', `The request failed: ${message.slice(0, 500)}`, error)
}

const timeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

const sentences: Record<string, string> = {
  ENOTFOUND: 'The name of the receiver is not known to DNS.',
  EAI_AGAIN: 'DNS could not be asked for the name of the receiver.',
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver broke off the connection.',
  EHOSTUNREACH: 'The receiver cannot be reached from here.',
  ENETUNREACH: 'The receiver cannot be reached from here.',
  UND_ERR_SOCKET: 'The receiver closed the connection without an answer.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the answer are too large.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The receiver’s certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: 'The receiver’s certificate is signed by an authority that is not trusted.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'The receiver’s certificate is signed by an authority that is not trusted.',
  CERT_HAS_EXPIRED: 'The receiver’s certificate has expired.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The receiver’s certificate is for another name.',
}
