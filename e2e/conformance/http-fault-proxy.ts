// An HTTP proxy between an agent and the server that can drop connections, fail, lose responses, and records requests.
import { once } from 'node:events'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Seen {
  method: string
  path: string
  status: number
}

/** Answers in the server's place when it returns true. */
export type Interception = (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean

/** The replacement of the server's response; null: none. */
type Loss = (request: IncomingMessage, status: number) => 'no answer' | '500' | null

export class HttpFaultProxy {
  readonly seen: Seen[] = []
  /** The number of connections dropped. */
  drops = 0
  private intercept: Interception = () => false
  private lose: Loss = () => null
  private isDropping = false
  private isFailing = false
  private readonly server = createServer((request, response) => void this.pass(request, response))
  private readonly target: URL
  private port = 0

  private constructor(target: string) {
    this.target = new URL(target)
  }

  static async open(target: string): Promise<HttpFaultProxy> {
    const proxy = new HttpFaultProxy(target)
    proxy.server.on('connection', (socket) => {
      if (!proxy.isDropping) return
      proxy.drops += 1
      socket.destroy()
    })
    proxy.server.listen(0, '127.0.0.1')
    await once(proxy.server, 'listening')
    proxy.port = (proxy.server.address() as AddressInfo).port
    return proxy
  }

  /** For agents, with the path of the agent API. */
  get endpoint(): string {
    return `http://127.0.0.1:${this.port}/v3`
  }

  interceptWith(intercept: Interception): void {
    this.intercept = intercept
  }

  /** The server handles the requests, but the agent gets no response. */
  loseAnswersTo(lose: Loss): void {
    this.lose = lose
  }

  /** Answers everything with 503. */
  fail(): void {
    this.isDropping = false
    this.isFailing = true
  }

  recover(): void {
    this.isDropping = false
    this.isFailing = false
  }

  /** Drops open and new connections. */
  dropConnections(): void {
    this.isDropping = true
    this.server.closeAllConnections()
  }

  close(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  private async pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('finish', () => {
      this.seen.push({
        method: request.method ?? '',
        path: (request.url ?? '').split('?')[0] ?? '',
        status: response.statusCode,
      })
    })
    if (this.isFailing) {
      request.resume()
      response.writeHead(503, { 'Content-Type': 'application/json' }).end('{"message":"out of order"}')
      return
    }
    if (await this.intercept(request, response)) return
    this.relay(request, response)
  }

  private relay(request: IncomingMessage, response: ServerResponse): void {
    const { hostname, port } = this.target
    const { method = 'GET', url = '/', headers } = request
    const onward = forward({ hostname, port, method, path: url, headers, agent: false })
    onward.on('error', () => response.destroy())
    onward.on('response', (answer) => {
      const loss = this.lose(request, answer.statusCode ?? 502)
      if (loss !== null) {
        answer.resume()
        if (loss === 'no answer') response.destroy()
        else response.writeHead(500, { 'Content-Type': 'application/json' }).end('{"message":"lost"}')
        return
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      response.flushHeaders()
      answer.on('end', () => response.addTrailers(answer.trailers))
      answer.on('error', () => response.destroy())
      answer.pipe(response)
    })
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  }
}
