// JSON over HTTP on a Unix socket, between in-job commands and the agent.

import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage, Server } from 'node:http'
import { readAll } from '../http/exchange.ts'

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

const MAX_BODY_BYTES = 16 * 1024 * 1024

/** Resolves when the server listens. */
export function listen(path: string, answer: (request: SocketRequest) => SocketAnswer): Promise<Server> {
  const server = createServer((incoming, response) => {
    void respond(incoming, answer).then(({ status, body }) => {
      response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' })
      response.end(JSON.stringify(body))
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

export function askSocket(
  socketPath: string,
  { method, path, token, body }: { method: string; path: string; token?: string; body?: unknown },
): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': bytes.length,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    }
    const request = httpRequest({ socketPath, method, path, headers }, (response) => {
      readAll(response, MAX_BODY_BYTES)
        .then((answer) =>
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(answer.toString()) as unknown }),
        )
        .catch(reject)
    })
    request.on('error', reject)
    request.end(bytes)
  })
}

async function respond(
  incoming: IncomingMessage,
  answer: (request: SocketRequest) => SocketAnswer,
): Promise<SocketAnswer> {
  try {
    const bytes = await readAll(incoming, MAX_BODY_BYTES)
    const url = new URL(incoming.url ?? '/', 'http://socket')
    return answer({
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      token: (incoming.headers.authorization ?? '').replace(/^Bearer /, ''),
      body: bytes.length === 0 ? null : (JSON.parse(bytes.toString()) as unknown),
    })
  } catch {
    return { status: 400, body: { error: 'the request could not be read' } }
  }
}
