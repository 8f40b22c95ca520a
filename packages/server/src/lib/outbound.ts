// The client for every URL that a user can set. It resolves a name once, connects to the address it has judged,
// follows no redirect, and reads only the head of an answer; a receiver can neither lead it into the operator's network nor
// fill its memory nor hold it longer than its time.
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Agent, buildConnector } from 'undici'
import { mayReach } from './outbound-addresses.ts'
import { exchange, TooLate, type ExchangeLimits } from './outbound-exchange.ts'

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array | null
  /** Whether the receiver must show a certificate that is valid for its name; true unless said. */
  tlsVerify?: boolean
  /** How much of the answer is read, where the usual head is not enough. */
  keptBytes?: number
}

export interface OutboundResponse {
  status: number
  headers: Record<string, string>
  /** The head of the body, as it came. */
  body: Buffer
  /** There was more of it. */
  isCut: boolean
}

/** `refused`: the address may not be reached, so asking again is of no use until somebody changes something. */
export class OutboundError extends Error {
  readonly kind: 'refused' | 'failed'

  constructor(kind: 'refused' | 'failed', message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

export interface OutboundClient {
  /** Answers whatever status the receiver answers; throws an OutboundError when there is none. */
  send(request: OutboundRequest): Promise<OutboundResponse>
  close(): Promise<void>
}

export type Resolve = (hostname: string) => Promise<string[]>

export interface OutboundOptions extends Partial<ExchangeLimits> {
  /** Ranges that may be reached although they are not public, separated by spaces. */
  allow: string
  resolve?: Resolve
}

const resolveName: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/** A name may have many addresses; so many are tried. */
const mostAddresses = 3

export function outboundClient({
  allow,
  resolve = resolveName,
  timeoutMs = 10_000,
  bodyMs = 2000,
  keptBytes = 16_384,
}: OutboundOptions): OutboundClient {
  // The library takes a twentieth of a start to load, so the first request does.
  const makeAgent = async (rejectUnauthorized: boolean): Promise<Agent> => {
    const undici = await import('undici')
    const connect = undici.buildConnector({ rejectUnauthorized, timeout: timeoutMs / 2 })
    return new undici.Agent({
      connect: guarded(connect, resolve, allow),
      // A connection for each request that is under way: those who share a host, and perhaps nothing else, never wait for
      // one another. How many there are is for those to bound who send.
      connections: null,
      pipelining: 1,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      maxHeaderSize: 16_384,
    })
  }
  const agents = new Map<boolean, Promise<Agent>>()
  const agentWith = (rejectUnauthorized: boolean): Promise<Agent> => {
    const agent = agents.get(rejectUnauthorized) ?? makeAgent(rejectUnauthorized)
    agents.set(rejectUnauthorized, agent)
    return agent
  }

  return {
    async send({ method, url, headers, body, tlsVerify = true, keptBytes: asked = keptBytes }) {
      const { origin, pathname, search } = readUrl(url)
      try {
        const { headers: answered, ...answer } = await exchange(
          await agentWith(tlsVerify),
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
    async close() {
      await Promise.all([...agents.values()].map(async (agent) => (await agent).destroy()))
    },
  }
}

/** Whether the client would take it at all; where it leads is judged when it is asked. */
export function isOutboundUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password, hostname } = new URL(text)
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' && hostname !== ''
}

function readUrl(text: string): URL {
  if (isOutboundUrl(text)) return new URL(text)
  throw new OutboundError('refused', 'The address is not an http or https URL without a user name in it.')
}

/** Connects to addresses that were judged, never to a name. */
function guarded(
  connect: buildConnector.connector,
  resolve: Resolve,
  allow: string,
): buildConnector.connector {
  const connectTo = (options: buildConnector.Options, address: string) =>
    new Promise<Outcome>((done) => {
      // The certificate must still be for the name in `host`.
      connect({ ...options, hostname: address }, (...outcome) => done(outcome))
    })
  const find = async (options: buildConnector.Options): Promise<Outcome> => {
    const addresses = await addressesOf(options.hostname, resolve)
    const reachable = addresses.filter((address) => mayReach(address, allow)).slice(0, mostAddresses)
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
  // URLs write an IPv6 address in brackets.
  const bare = hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(bare) !== 0) return [bare]
  return resolve(hostname)
}

/** Says nothing of where the name leads: whoever set it is not to learn about the operator's network. */
const refusal = (hostname: string) =>
  new OutboundError(
    'refused',
    `${hostname.slice(0, 255)} does not lead to a public address. The operator can allow it with MILLRACE_OUTBOUND_ALLOW.`,
  )

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
