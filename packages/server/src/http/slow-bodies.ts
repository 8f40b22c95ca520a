// An unknown caller has a few seconds to send a body, and the number of such bodies in flight is limited. Otherwise
// anybody could hold connections for as long as an upload may take. Once the token, ticket or URL of a request has been
// accepted, the body must only keep a slow pace, and the number of bodies in flight is limited for each sender and organization.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config/config.ts'
import { Holdings, type Owner } from '../lib/holdings.ts'

interface Waiting {
  /** Counts the requests. */
  arrival: number
  /** Stops the clock. */
  end(): void
  drop(status: number, message: string): void
}

/** Bodies of unknown senders. */
interface Unknown {
  seconds: number
  most: number
  arrivals: number
  /**
   * Those that we read and that have not arrived. Before that we wait for the database, to know who the
   * sender is: agents that all come back after a restart wait for us, and are not turned away. What the wait for the
   * database costs is limited by its own time, and by the number of connections.
   */
  awaited: Set<Waiting>
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
/** Their connections close with the response. */
const dropped = new WeakSet<IncomingMessage>()

/** Returns the bodies of known senders. */
export function limitBodies(
  app: FastifyInstance,
  { unknownBodies, knownBodies }: Pick<Config, 'unknownBodies' | 'knownBodies'>,
): Holdings {
  const bodies = new Holdings('request bodies on their way', knownBodies)
  knownOf.set(app.server, { bodies, pace: knownBodies })
  const unknown: Unknown = { ...unknownBodies, arrivals: 0, awaited: new Set() }
  app.addHook('onRequest', (request, reply, next) => {
    if (hasBody(request.raw)) wait(request, reply, unknown)
    next()
  })
  // A response can be sent before the body has arrived. The rest of the body gets the same time.
  app.addHook('onResponse', (request, reply, next) => {
    const { raw } = request
    const isAwaited = hasBody(raw) && !raw.complete && !raw.destroyed && !dropped.has(raw)
    if (isAwaited && !waitingOf.has(raw)) wait(request, reply, unknown)
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

function wait(request: FastifyRequest, reply: FastifyReply, unknown: Unknown): void {
  const { seconds, most, awaited } = unknown
  const { raw } = request
  const { socket } = raw
  const isRead = () => raw.readableFlowing !== null
  const beginToAwait = () => {
    if (raw.complete) return
    awaited.add(entry)
    if (awaited.size > most)
      longestOf(awaited)?.drop(503, 'Too many requests are under way. Try again in a moment.')
  }
  const entry: Waiting = {
    arrival: unknown.arrivals++,
    end() {
      clearTimeout(timer)
      awaited.delete(entry)
      waitingOf.delete(raw)
      raw.off('resume', beginToAwait)
      raw.off('end', entry.end)
      socket.off('close', entry.end)
    },
    drop(status, message) {
      entry.end()
      answerAndClose(request, reply, status, message)
    },
  }
  const timer = setTimeout(() => {
    // Nothing reads the body before the caller is known. A database that does not answer is not the caller's fault.
    if (!isRead()) timer.refresh()
    else entry.drop(408, `The body did not arrive within ${seconds} seconds.`)
  }, seconds * 1000)
  waitingOf.set(raw, { waiting: entry, reply })
  if (isRead()) beginToAwait()
  else raw.once('resume', beginToAwait)
  raw.on('end', entry.end)
  socket.on('close', entry.end)
}

/** Senders that become known leave within milliseconds, so it is most likely an idle connection. */
function longestOf(awaited: ReadonlySet<Waiting>): Waiting | undefined {
  let longest: Waiting | undefined
  for (const one of awaited) if (longest === undefined || one.arrival < longest.arrival) longest = one
  return longest
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
  dropped.add(request.raw)
  if (reply.raw.headersSent) {
    socket.destroy()
    return
  }
  reply.raw.once('finish', () => socket.destroy())
  if (status === 503) void reply.header('Retry-After', '5')
  void reply.code(status).header('Connection', 'close').send({ message })
}
