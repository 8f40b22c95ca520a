// Which agents can take a job. claim.ts decides the same with the abilities of the agents that wait.
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/pool.ts'

/** For queries with `agents a`: it may take jobs, and its tags satisfy these rules, a `text[]`. */
export const isEligible = (rules: RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`(
  a.connection_state = 'connected' and a.paused_at is null and not a.ignore_in_dispatches and not exists (
    select from unnest(${rules}) as rule
    where split_part(rule, '=', 1) <> 'queue' and not exists (
      select from unnest(a.tags) as tag
      where tag = rule or (split_part(rule, '=', 2) in ('', '*') and split_part(tag, '=', 1) = split_part(rule, '=', 1)))))`

/** Of these jobs those that no connected agent can take, and for which no agent is started either. */
export async function listWithoutAgent(
  db: Db,
  organizationId: string,
  jobIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    with asked as (
      select id, queue_id, agent_query_rules as rules from jobs
      where organization_id = ${organizationId} and id = any (${jobIds}::uuid[])
    ), kinds as materialized (
      select k.queue_id, k.rules, exists (
        select from cluster_queues q
        where q.organization_id = ${organizationId} and q.id = k.queue_id and q.dispatch_paused_at is null and (
          q.instance_shape is not null
          or exists (select from stacks s where s.organization_id = ${organizationId} and s.queue_id = q.id
            and s.disconnected_at is null)
          or exists (select from agents a where a.organization_id = ${organizationId} and a.queue_id = q.id
            and ${isEligible(sql`k.rules`)}))) as has_agent
      from (select distinct queue_id, rules from asked) k
    )
    select a.id from asked a join kinds k on k.queue_id is not distinct from a.queue_id and k.rules = a.rules
    where not k.has_agent`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
