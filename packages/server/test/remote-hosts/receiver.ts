// A receiver of webhooks, over real HTTP. It records requests and answers as the test says.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Json } from '../app.ts'

export interface Received {
  at: number
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The raw body, for checking a signature. */
  raw: Buffer
  body: Json
}

/** Answers the nth request, from 0; returns nothing to answer 200. */
export type Answering = (response: ServerResponse, received: Received, n: number) => unknown

export interface Receiver {
  url: string
  received: Received[]
  answering: Answering | null
  close(): Promise<void>
}

export async function aReceiver(answering: Answering | null = null): Promise<Receiver> {
  const received: Received[] = []
  const receiver: Receiver = { url: '', received, answering, close: async () => {} }
  const server = createServer((request, response) => {
    buffer(request).then(
      (raw) => {
        const text = raw.toString()
        const isJson = text.startsWith('{') || text.startsWith('[')
        const one: Received = {
          at: performance.now(),
          method: request.method ?? '',
          path: request.url ?? '',
          headers: request.headers,
          raw,
          body: (isJson ? JSON.parse(text) : {}) as Json,
        }
        received.push(one)
        if (receiver.answering === null) response.end('ok')
        else receiver.answering(response, one, received.length - 1)
      },
      () => response.destroy(),
    )
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  receiver.url = `http://127.0.0.1:${port}/hook`
  receiver.close = () =>
    new Promise((closed) => {
      server.closeAllConnections()
      server.close(() => closed())
    })
  return receiver
}
