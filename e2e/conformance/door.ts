// A door between an agent and the server that can be shut, can be out of order, and remembers who went through.
import { once } from 'node:events'
import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Seen {
  method: string
  path: string
  status: number
}

/** Answers in the server's place when it returns true. */
export type Interception = (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean

/** What the agent gets instead of the server's answer; null: the answer itself. */
export type Loss = (request: IncomingMessage, status: number) => 'no answer' | '500' | null

export class Door {
  readonly seen: Seen[] = []
  /** How many knocked while it was shut. */
  refusals = 0
  private intercept: Interception = () => false
  private lose: Loss = () => null
  private isShut = false
  private isBroken = false
  private readonly server = createServer((request, response) => void this.pass(request, response))
  private readonly target: URL
  private port = 0

  private constructor(target: string) {
    this.target = new URL(target)
  }

  static async open(target: string): Promise<Door> {
    const door = new Door(target)
    door.server.on('connection', (socket) => {
      if (!door.isShut) return
      door.refusals += 1
      socket.destroy()
    })
    door.server.listen(0, '127.0.0.1')
    await once(door.server, 'listening')
    door.port = (door.server.address() as AddressInfo).port
    return door
  }

  /** Where agents knock, with the path of the agent API. */
  get endpoint(): string {
    return `http://127.0.0.1:${this.port}/v3`
  }

  interceptWith(intercept: Interception): void {
    this.intercept = intercept
  }

  /** The server carries the requests out, and the agent does not hear of it. */
  loseAnswersTo(lose: Loss): void {
    this.lose = lose
  }

  /** Everything is answered with 503. */
  breakDown(): void {
    this.isShut = false
    this.isBroken = true
  }

  repair(): void {
    this.isBroken = false
  }

  /** Who knocks is cut off without a word, and who was talking too. */
  slam(): void {
    this.isShut = true
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
    if (this.isBroken) {
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
