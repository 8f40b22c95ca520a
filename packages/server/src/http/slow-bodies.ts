// Whoever is not known has a few seconds to send a body, and only so many of them are waited for at a time. Without
// this a connection costs its sender nothing and could be held for as long as an upload may take. Once the token, ticket
// or address of a request has been accepted, it has the time that the server gives to all requests.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

export interface BodyLimits {
  /** From the end of the headers to the end of the body. */
  seconds: number
  /** How many may be under way at once. */
  most: number
}

interface Waiting {
  /** Stops the clock. */
  end(): void
  drop(status: number, message: string): void
}

const waitingOf = new WeakMap<IncomingMessage, Waiting>()

export function limitUnknownBodies(app: FastifyInstance, { seconds, most }: BodyLimits): void {
  /** In the order in which they came. */
  const waiting = new Set<Waiting>()
  app.addHook('onRequest', (request, reply, next) => {
    if (hasBody(request.raw)) {
      // A request whose sender is known waits here for milliseconds, so the one that waits longest is most likely idle.
      const [longest] = waiting
      if (longest !== undefined && waiting.size >= most) {
        longest.drop(503, 'Too many requests are under way. Try again in a moment.')
      }
      wait(request, reply, waiting, seconds)
    }
    next()
  })
  // An answer can go out before the body has come in: what is left of it is not waited for much longer.
  app.addHook('onResponse', (request, reply, next) => {
    const { raw } = request
    if (hasBody(raw) && !raw.complete && !raw.destroyed && !waitingOf.has(raw))
      wait(request, reply, waiting, seconds)
    next()
  })
}

/** To be called when it is known who sends the request. */
export function allowSlowBody({ raw }: FastifyRequest): void {
  waitingOf.get(raw)?.end()
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function wait(request: FastifyRequest, reply: FastifyReply, waiting: Set<Waiting>, seconds: number): void {
  const { raw } = request
  const { socket } = raw
  const entry: Waiting = {
    end() {
      clearTimeout(timer)
      waiting.delete(entry)
      waitingOf.delete(raw)
      raw.off('end', entry.end)
      socket.off('close', entry.end)
    },
    drop(status, message) {
      entry.end()
      answerAndClose(request, reply, status, message)
    },
  }
  const timer = setTimeout(
    () => entry.drop(408, `The body did not arrive within ${seconds} seconds.`),
    seconds * 1000,
  )
  waiting.add(entry)
  waitingOf.set(raw, entry)
  raw.on('end', entry.end)
  socket.on('close', entry.end)
}

function answerAndClose(request: FastifyRequest, reply: FastifyReply, status: number, message: string): void {
  const { socket } = request.raw
  if (reply.raw.headersSent) {
    socket.destroy()
    return
  }
  reply.hijack()
  reply.raw.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    Connection: 'close',
    ...(status === 503 ? { 'Retry-After': '5' } : {}),
  })
  reply.raw.end(JSON.stringify({ message }), () => socket.destroy())
}
