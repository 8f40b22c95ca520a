// Appends events of agents to the outbox. Notifications ignore `agent.changed`: it is for readers that show agents.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/pool.ts'
import { prepared } from '../db/statement.ts'

/** Continues a statement that begins with `with moved as (update agents … returning *)`: one event for each row. */
export const publishMoved = (kind: RawBuilder<string>, at: string): RawBuilder<unknown> => sql`
  , published as (
    insert into events (organization_id, kind, data, created_at)
    select organization_id, ${kind}, jsonb_build_object('agent_id', id, 'cluster_id', cluster_id), ${at}::timestamptz
    from moved
  )`

/** Appends an event for each agent of these jobs. Afterwards a statement may clear the `agent_id` of the jobs. */
export const publishAgentsOf = prepared(
  (jobIds: readonly string[], at: string) => sql`
    insert into events (organization_id, kind, data, created_at)
    select a.organization_id, 'agent.changed', jsonb_build_object('agent_id', a.id, 'cluster_id', a.cluster_id),
      ${at}::timestamptz
    from jobs j join agents a on a.id = j.agent_id where j.id = any (${jobIds}::uuid[])`,
)

interface Blocked {
  organizationId: string
  clusterId: string
  clusterTokenId: string
  /** null: an agent tried to register. */
  agentId: string | null
  ip: string
}

/** A request came from an address that is not allowed. Repeated requests are published once a minute. */
export async function publishBlocked(
  db: Db,
  { organizationId, clusterId, clusterTokenId, agentId, ip }: Blocked,
  at: string,
): Promise<void> {
  const kind = agentId === null ? 'cluster_token.registration_blocked' : 'agent.blocked'
  const data = {
    blocked_ip: ip,
    cluster_token_id: clusterTokenId,
    cluster_id: clusterId,
    ...(agentId === null ? {} : { agent_id: agentId }),
  }
  await sql`
    insert into events (organization_id, kind, data, created_at)
    select ${organizationId}, ${kind}, ${JSON.stringify(data)}::jsonb, ${at}
    where not exists (
      select from (select * from events
        where organization_id = ${organizationId} and build_id is null
          and created_at > ${at}::timestamptz - interval '1 minute' order by id desc limit 200) recent
      where recent.kind = ${kind} and recent.data @> ${JSON.stringify(data)}::jsonb)`.execute(db)
}
