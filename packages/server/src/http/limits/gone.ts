// Tells handlers that nobody waits for their response any more: it was sent, or the connection is closed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { WorkKind, WorkOwner } from '../../lib/threads.ts'

const responseOf = new WeakMap<IncomingMessage, ServerResponse>()

/** To be called before routes are registered. */
export function noteResponses(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, next) => {
    responseOf.set(request.raw, reply.raw)
    next()
  })
}

/** What is called when a response is over, by one listener: Node warns of more than ten. */
const waiting = new WeakMap<ServerResponse, Array<() => void>>()

/** Calls it when the response is over. */
export function onGone({ raw }: FastifyRequest, work: () => void): void {
  const response = responseOf.get(raw)
  if (response === undefined || response.closed) return work()
  const known = waiting.get(response)
  if (known !== undefined) return void known.push(work)
  const all = [work]
  waiting.set(response, all)
  response.once('close', () => all.forEach((each) => each()))
}

/** Fastify's own `request.signal` does not abort any more once the body of a POST has been read. */
export function untilGone(request: FastifyRequest): AbortSignal {
  const leaving = new AbortController()
  onGone(request, () => leaving.abort())
  return leaving.signal
}

/** Work in a thread for the caller of a request. */
export const workOf = (
  kind: WorkKind,
  { org, caller, gone }: { org: Organization; caller: Caller; gone: () => AbortSignal },
): WorkOwner => ({ kind, organizationId: org.id, sender: caller.user.id, until: gone() })
