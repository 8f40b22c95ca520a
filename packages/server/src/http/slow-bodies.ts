// An unknown caller has a few seconds to send a body, and the number of such bodies in flight is limited. Otherwise
// anybody could hold connections for as long as an upload may take. Once the token, ticket or URL of a request has been
// accepted, the body must only keep a slow pace, and the number of bodies in flight is limited for each sender and organization.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { Holdings, type Owner } from '../lib/holdings.ts'

interface Waiting {
  /** Stops the clock. */
  end(): void
  drop(status: number, message: string): void
}

interface Pace {
  bytesPerSecond: number
  /** The time over which it is measured. */
  paceSeconds: number
}

interface Known {
  bodies: Holdings
  pace: Pace
}

const waitingOf = new WeakMap<IncomingMessage, { waiting: Waiting; reply: FastifyReply }>()
const knownOf = new WeakMap<object, Known>()

/** Returns the bodies of known senders. */
export function limitBodies(
  app: FastifyInstance,
  { unknownBodies, knownBodies }: Pick<Config, 'unknownBodies' | 'knownBodies'>,
): Holdings {
  const { seconds, most } = unknownBodies
  const bodies = new Holdings('request bodies on their way', knownBodies)
  knownOf.set(app.server, { bodies, pace: knownBodies })
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
  return bodies
}

/** To be called when the caller is known. Throws 429 where there are too many bodies of the sender or its organization. */
export function allowSlowBody(request: FastifyRequest, owner: Owner): void {
  const { raw } = request
  const known = knownOf.get(request.server.server)
  const entry = waitingOf.get(raw)
  if (known === undefined || entry === undefined) return
  const giveBack = known.bodies.take(owner)
  entry.waiting.end()
  keepPace(request, entry.reply, known.pace, giveBack)
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
  waitingOf.set(raw, { waiting: entry, reply })
  raw.on('end', entry.end)
  socket.on('close', entry.end)
}

/** Drops a body that arrives too slowly. It is not the sender's fault while we do not read what has arrived. */
function keepPace(
  request: FastifyRequest,
  reply: FastifyReply,
  { bytesPerSecond, paceSeconds }: Pace,
  giveBack: () => void,
): void {
  const { raw } = request
  const { socket } = raw
  const least = bytesPerSecond * paceSeconds
  let readBefore = socket.bytesRead
  const timer = setInterval(() => {
    const isOurs = raw.readableFlowing === null || raw.readableLength > 0
    const arrived = socket.bytesRead - readBefore
    readBefore = socket.bytesRead
    if (isOurs || arrived >= least) return
    end()
    answerAndClose(
      request,
      reply,
      408,
      `The body arrives too slowly: send at least ${bytesPerSecond} bytes a second.`,
    )
  }, paceSeconds * 1000)
  timer.unref()
  const end = () => {
    clearInterval(timer)
    giveBack()
    raw.off('end', end)
    raw.off('close', end)
    reply.raw.off('close', end)
    socket.off('close', end)
  }
  raw.on('end', end)
  raw.on('close', end)
  reply.raw.on('close', end)
  socket.on('close', end)
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
