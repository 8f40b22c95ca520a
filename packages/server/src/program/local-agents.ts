// The token with which local agents register. Only its hash is stored, and every start derives it again from the
// installation's secret.
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Context } from '../context.ts'
import { publishMoved } from '../events/agents.ts'
import { hashToken, newId } from '../lib/ids.ts'

const description = 'Local agents'

/** For the first cluster of the organization that has a default queue; null when there is none. */
export async function localAgentToken(ctx: Context, organizationSlug: string): Promise<string | null> {
  const { rows } = await sql<{ id: string; organization_id: string }>`
    select c.id, c.organization_id from clusters c join organizations o on o.id = c.organization_id
    where o.slug = ${organizationSlug} and c.default_queue_id is not null and not c.hosted
    order by c.created_at, c.id limit 1`.execute(ctx.db)
  const [cluster] = rows
  if (cluster === undefined) return null
  const code = createHash('sha256').update(ctx.keys.sign('local agents', cluster.id)).digest('hex')
  const token = `mrct_${code.slice(0, 40)}`
  await ctx.db
    .insertInto('cluster_tokens')
    .values({
      id: newId(),
      organization_id: cluster.organization_id,
      cluster_id: cluster.id,
      token_hash: hashToken(token),
      description,
      allowed_ip_addresses: '127.0.0.0/8 ::1/128',
    })
    .onConflict((conflict) => conflict.column('token_hash').doNothing())
    .execute()
  return token
}

/**
 * Marks the agents of an earlier process that died as lost. Only for the embedded database, whose lock this process holds:
 * there no other process can have local agents.
 */
export async function loseLocalAgents(ctx: Context, token: string): Promise<void> {
  const at = ctx.now().toISOString()
  await sql`
    with moved as (
      update agents a set connection_state = 'lost', lost_at = ${at}
      from cluster_tokens t where t.token_hash = ${hashToken(token)} and a.cluster_token_id = t.id
        and a.connection_state in ('never_connected', 'connected', 'stopping') returning a.*
    ) ${publishMoved(sql`'agent.changed'`, at)}
    select from moved`.execute(ctx.db)
}
