// Limits how many requests of one user and of one organization are under way in this process: reading a response slowly holds a
// connection as sending a body slowly does.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller, Organization } from '../../auth/caller.ts'
import { Holdings, type Limits, type Owner } from '../../lib/holdings.ts'
import { allowSlowBody } from '../slow-bodies.ts'
import { onGone } from './gone.ts'

const requestsOf = new WeakMap<object, Holdings>()

export function limitRequests(app: FastifyInstance, limits: Limits): Holdings {
  const requests = new Holdings('requests under way', limits)
  requestsOf.set(app.server, requests)
  return requests
}

/** To be called when the caller is known. Throws 429 where there are too many. */
export function holdRequest(
  request: FastifyRequest,
  { caller, org }: { caller: Caller; org: Organization | null },
): void {
  const { id: sender } = caller.user
  // Requests that name no organization are counted for the user alone.
  const owner: Owner = { organizationId: org?.id ?? sender, sender }
  const giveBack = requestsOf.get(request.server.server)?.take(owner)
  if (giveBack !== undefined) onGone(request, giveBack)
  allowSlowBody(request, owner)
}
