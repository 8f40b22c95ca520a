// The agent in a container joins: with its own token, once, for its own queue and job.
import { sql } from 'kysely'
import { passOn } from '../../conductor/claim.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { unauthorized } from '../../lib/errors.ts'
import { hashToken } from '../../lib/ids.ts'
import { give } from './plan.ts'

export interface HostedPlace {
  hostedAgentId: string
  organization: { id: string; slug: string }
  cluster: { id: string; name: string }
  queue: { id: string; key: string }
}

export async function findPlace(ctx: Context, token: string): Promise<HostedPlace> {
  const { rows } = await sql<HostedPlace & { isOver: boolean }>`
    select h.id as "hostedAgentId", json_build_object('id', o.id, 'slug', o.slug) as organization,
      json_build_object('id', c.id, 'name', c.name) as cluster, json_build_object('id', q.id, 'key', q.key) as queue,
      h.state = 'stopping' or h.token_expires_at <= ${ctx.now().toISOString()} as "isOver"
    from hosted_agents h join organizations o on o.id = h.organization_id join clusters c on c.id = h.cluster_id
    join cluster_queues q on q.id = h.queue_id
    where h.token_hash = ${hashToken(token)}`.execute(ctx.db)
  const [found] = rows
  if (found === undefined) throw expired()
  const { isOver, ...place } = found
  if (isOver) throw expired()
  return place
}

const expired = () => unauthorized('The token of the hosted agent has expired.')

/** In the transaction that made the agent. Until it connects, one that did not hear the answer may register again. */
export async function takePlace(
  trx: Trx,
  ctx: Context,
  { hostedAgentId }: HostedPlace,
  agentId: string,
): Promise<void> {
  const { rows } = await sql<{ jobId: string | null; earlier: string | null; isConnected: boolean }>`
    select h.job_id as "jobId", h.agent_id as earlier, coalesce(a.connection_state <> 'never_connected', false) as "isConnected"
    from hosted_agents h left join agents a on a.id = h.agent_id
    where h.id = ${hostedAgentId} and h.state <> 'stopping' for update of h`.execute(trx)
  const [place] = rows
  if (place === undefined || place.isConnected) {
    throw unauthorized('An agent has registered with this token already.')
  }
  await sql`update hosted_agents set agent_id = ${agentId} where id = ${hostedAgentId}`.execute(trx)
  if (place.earlier !== null) {
    await passOn(trx, place.earlier, agentId)
    await sql`delete from agents where id = ${place.earlier}`.execute(trx)
  }
  if (place.jobId !== null) await give(trx, ctx, { id: hostedAgentId, jobId: place.jobId, agentId })
}
