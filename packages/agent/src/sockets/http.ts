// JSON over HTTP on a Unix socket, between in-job commands and the agent.

import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf, readAll } from '../http/exchange.ts'

export interface SocketRequest {
  method: string
  path: string
  query: URLSearchParams
  token: string
  body: unknown
}

export interface SocketAnswer {
  status: number
  body: unknown
}

export interface SocketRoute {
  method: string
  path: string
  /** A larger body is refused before it is in memory. */
  maxBodyBytes: number
  answer(request: SocketRequest): SocketAnswer
}

/** Far more than jobs have at once: each request has its own connection, for milliseconds. */
const MAX_CONNECTIONS = 256
/** Bodies of requests and answers that are in memory at the same time. */
const MAX_BYTES_IN_FLIGHT = 32 * 1024 * 1024
/** Keys of locks are in the URL. */
const MAX_HEAD_BYTES = 16 * 1024
const MAX_ANSWER_BYTES = 16 * 1024 * 1024
const LONGEST_REQUEST_MS = 30_000

/**
 * Resolves when the server listens. Jobs may send anything, so the memory that connections, heads, bodies and unread answers
 * take is limited.
 */
export function listen(path: string, routes: readonly SocketRoute[]): Promise<Server> {
  const budget = { left: MAX_BYTES_IN_FLIGHT }
  const server = createServer({ maxHeaderSize: MAX_HEAD_BYTES }, (incoming, response) => {
    void respond(incoming, routes, budget).then(({ status, body }) => send(response, status, body, budget))
  })
  limitConnections(server)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

/** With too many connections the oldest is closed, so that nobody keeps others out by holding connections. */
function limitConnections(server: Server): void {
  const open = new Set<Socket>()
  server.on('connection', (socket) => {
    open.add(socket)
    const timer = setTimeout(() => socket.destroy(), LONGEST_REQUEST_MS).unref()
    socket.once('close', () => {
      open.delete(socket)
      clearTimeout(timer)
    })
    const [oldest] = open
    if (open.size > MAX_CONNECTIONS) oldest?.destroy()
  })
}

const TOO_MANY = 'the agent has too many requests'

interface Budget {
  left: number
}

/** Returns a function that takes bytes until the stream closes. It returns false when others have taken too many. */
function borrow(budget: Budget, stream: IncomingMessage | ServerResponse): (bytes: number) => boolean {
  let taken = 0
  stream.once('close', () => void (budget.left += taken))
  return (bytes) => {
    if (bytes > budget.left || stream.destroyed) return false
    taken += bytes
    budget.left -= bytes
    return true
  }
}

async function respond(
  incoming: IncomingMessage,
  routes: readonly SocketRoute[],
  budget: Budget,
): Promise<SocketAnswer> {
  try {
    const url = new URL(incoming.url ?? '/', 'http://socket')
    const { method = '' } = incoming
    const route = routes.find((each) => each.method === method && each.path === url.pathname)
    if (route === undefined) return refuse(404, 'there is nothing here')
    const bytes = await readBody(incoming, route.maxBodyBytes, budget)
    if (!Buffer.isBuffer(bytes)) return bytes
    return route.answer({
      method,
      path: url.pathname,
      query: url.searchParams,
      token: (incoming.headers.authorization ?? '').replace(/^Bearer /, ''),
      body: bytes.length === 0 ? null : (JSON.parse(bytes.toString()) as unknown),
    })
  } catch {
    return refuse(400, 'the request could not be read')
  }
}

async function readBody(
  incoming: IncomingMessage,
  maxBytes: number,
  budget: Budget,
): Promise<Buffer | SocketAnswer> {
  const parts: Buffer[] = []
  let size = 0
  const take = borrow(budget, incoming)
  const refusal = (status: number, error: string) => {
    // The sender reads the answer when it has sent the rest, which nobody keeps.
    incoming.resume()
    return refuse(status, error)
  }
  for await (const part of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += part.length
    if (size > maxBytes) return refusal(413, `the body has more than ${maxBytes} bytes`)
    if (!take(part.length)) return refusal(503, TOO_MANY)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function send(response: ServerResponse, status: number, body: unknown, budget: Budget): void {
  const bytes = Buffer.from(JSON.stringify(body))
  const hasRoom = borrow(budget, response)(bytes.length)
  response.writeHead(hasRoom ? status : 503, { 'Content-Type': 'application/json', Connection: 'close' })
  response.end(hasRoom ? bytes : JSON.stringify({ error: TOO_MANY }))
}

export function refuse(status: number, error: string): SocketAnswer {
  return { status, body: { error } }
}

interface Question {
  method: string
  path: string
  token?: string
  body?: unknown
}

export function askSocket(
  socketPath: string,
  { method, path, token, body }: Question,
): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': bytes.length,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    }
    const request = httpRequest({ socketPath, method, path, headers }, (response) => {
      readAll(response, MAX_ANSWER_BYTES)
        .then((answer) =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer.toString()) as unknown }),
        )
        .catch(reject)
    })
    request.on('error', reject)
    request.end(bytes)
  })
}

const PATIENCE_MS = 10_000
const RETRY_MS = 20

/** Repeats a request that the server could not take because of others. */
export async function askPatiently(ask: () => Promise<SocketAnswer>): Promise<SocketAnswer> {
  const until = Date.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask().catch((error: unknown) => {
      if (['ECONNRESET', 'EPIPE'].includes(codeOf(error)) && Date.now() < until) return null
      throw error
    })
    if (answer !== null && (answer.status !== 503 || Date.now() > until)) return answer
    await delay(RETRY_MS)
  }
}
