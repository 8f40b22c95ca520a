// Ends the sessions of agents whose token is revoked. Their jobs end like those of a lost agent.
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import type { Trx } from '../db/pool.ts'
import { publishMoved } from '../events/agents.ts'
import { loseJob, type AgentJob } from './lost-agents.ts'
import { wakeAgent } from './dispatch/wake.ts'

/**
 * Runs in the transaction of the revocation: after its commit, requests of these agents are refused and they get no jobs.
 * `loseJobs` runs after the commit, because builds are locked first. If the process dies before, the watch over lost
 * agents does the same.
 */
export async function endSessions(
  trx: Trx,
  organizationId: string,
  agentIds: readonly string[],
  at: string,
): Promise<void> {
  await sql`
    with moved as (
      update agents set connection_state = 'disconnected', disconnected_at = ${at}
      where organization_id = ${organizationId} and id = any (${agentIds}::uuid[])
        and connection_state in ('never_connected', 'connected', 'stopping') returning *
    ) ${publishMoved(sql`'agent.disconnected'`, at)}
    select from moved`.execute(trx)
  for (const id of agentIds) await wakeAgent(trx, id)
}

export async function loseJobs(
  ctx: Context,
  organizationId: string,
  agentIds: readonly string[],
): Promise<void> {
  const { rows } = await sql<AgentJob>`
    select j.id, j.build_id as "buildId" from jobs j
    where j.organization_id = ${organizationId} and j.agent_id = any (${agentIds}::uuid[])
      and j.state in ('assigned', 'accepted', 'running', 'timing_out', 'canceling')`.execute(ctx.db)
  for (const job of rows) await loseJob(ctx, organizationId, job)
}
