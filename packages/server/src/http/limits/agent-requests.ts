// Limits the requests of agents and jobs that are under way in this process: an agent token can register any number of agents, and
// the pings of each hold connections for as long as they wait. Downloads at addresses with a ticket count too.
import type { Context } from '../../context.ts'
import { Holdings, type Owner } from '../../lib/holdings.ts'

const ofServer = new WeakMap<Context['metrics'], Holdings>()

/** Those of the server with this context. */
export function agentRequests(ctx: Context): Holdings {
  const known = ofServer.get(ctx.metrics) ?? new Holdings('requests under way', ctx.config.agentRequests)
  ofServer.set(ctx.metrics, known)
  return known
}

/** To be called when the sender is known. Throws 429 where there are too many. `gone` aborts when the response is over. */
export function holdAgentRequest(ctx: Context, owner: Owner, gone: AbortSignal): void {
  const giveBack = agentRequests(ctx).take(owner)
  if (gone.aborted) giveBack()
  else gone.addEventListener('abort', giveBack, { once: true })
}
