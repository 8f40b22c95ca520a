// Registration of a hosted agent: with its own token, once, for its own queue and job.
import { sql } from 'kysely'
import { reassignJob } from '../conductor/dispatch/assign.ts'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { unauthorized } from '../lib/errors.ts'
import { hashToken } from '../lib/ids.ts'
import { offerJob } from './plan.ts'

export interface HostedRegistration {
  hostedAgentId: string
  organization: { id: string; slug: string }
  cluster: { id: string; name: string }
  queue: { id: string; key: string }
}

export async function findHostedRegistration(ctx: Context, token: string): Promise<HostedRegistration> {
  const { rows } = await sql<HostedRegistration & { isExpired: boolean }>`
    select h.id as "hostedAgentId", json_build_object('id', o.id, 'slug', o.slug) as organization,
      json_build_object('id', c.id, 'name', c.name) as cluster, json_build_object('id', q.id, 'key', q.key) as queue,
      h.state = 'stopping' or h.token_expires_at <= ${ctx.now().toISOString()} as "isExpired"
    from hosted_agents h join organizations o on o.id = h.organization_id join clusters c on c.id = h.cluster_id
    join cluster_queues q on q.id = h.queue_id
    where h.token_hash = ${hashToken(token)}`.execute(ctx.db)
  const [found] = rows
  if (found === undefined) throw expired()
  const { isExpired, ...registration } = found
  if (isExpired) throw expired()
  return registration
}

const expired = () => unauthorized('The token of the hosted agent has expired.')

/** In the transaction that created the agent. An agent that missed the answer may register again until it connects. */
export async function registerHosted(
  trx: Trx,
  ctx: Context,
  { hostedAgentId }: HostedRegistration,
  agentId: string,
): Promise<void> {
  const { rows } = await sql<{ jobId: string | null; earlier: string | null; isConnected: boolean }>`
    select h.job_id as "jobId", h.agent_id as earlier, coalesce(a.connection_state <> 'never_connected', false) as "isConnected"
    from hosted_agents h left join agents a on a.id = h.agent_id
    where h.id = ${hostedAgentId} and h.state <> 'stopping' for update of h`.execute(trx)
  const [row] = rows
  if (row === undefined || row.isConnected) {
    throw unauthorized('An agent has registered with this token already.')
  }
  await sql`update hosted_agents set agent_id = ${agentId} where id = ${hostedAgentId}`.execute(trx)
  if (row.earlier !== null) {
    await reassignJob(trx, row.earlier, agentId, ctx.now().toISOString())
    await sql`delete from agents where id = ${row.earlier}`.execute(trx)
  }
  if (row.jobId !== null) await offerJob(trx, ctx, { id: hostedAgentId, jobId: row.jobId, agentId })
}
