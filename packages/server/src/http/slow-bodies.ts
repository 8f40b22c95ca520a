// An unknown caller has a few seconds to send a body, and the number of such bodies in flight is limited. Otherwise
// anybody could hold connections for as long as an upload may take. Once the token, ticket or URL of a request has been
// accepted, the server's general timeout applies.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

interface BodyLimits {
  /** From the end of the headers to the end of the body. */
  seconds: number
  /** How many may be in flight at once. */
  most: number
}

interface Waiting {
  /** Stops the clock. */
  end(): void
  drop(status: number, message: string): void
}

const waitingOf = new WeakMap<IncomingMessage, Waiting>()

export function limitUnknownBodies(app: FastifyInstance, { seconds, most }: BodyLimits): void {
  /** In the order of arrival. */
  const waiting = new Set<Waiting>()
  app.addHook('onRequest', (request, reply, next) => {
    if (hasBody(request.raw)) {
      // Known callers leave this set within milliseconds, so the oldest entry is most likely an idle connection.
      const [longest] = waiting
      if (longest !== undefined && waiting.size >= most) {
        longest.drop(503, 'Too many requests are under way. Try again in a moment.')
      }
      wait(request, reply, waiting, seconds)
    }
    next()
  })
  // A response can be sent before the body has arrived. The rest of the body gets the same time.
  app.addHook('onResponse', (request, reply, next) => {
    const { raw } = request
    if (hasBody(raw) && !raw.complete && !raw.destroyed && !waitingOf.has(raw))
      wait(request, reply, waiting, seconds)
    next()
  })
}

/** To be called when the caller is known. */
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
  const timer = setTimeout(() => {
    // Nothing reads the body before the caller is known. A database that does not answer is not the caller's fault, and
    // the wait for it has its own limit.
    if (raw.readableFlowing === null) timer.refresh()
    else entry.drop(408, `The body did not arrive within ${seconds} seconds.`)
  }, seconds * 1000)
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
  reply.raw.once('finish', () => socket.destroy())
  if (status === 503) void reply.header('Retry-After', '5')
  void reply.code(status).header('Connection', 'close').send({ message })
}
