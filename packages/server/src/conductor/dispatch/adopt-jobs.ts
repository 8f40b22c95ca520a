import { sql } from 'kysely'
import type { Trx } from '../../db/pool.ts'

/** Moves jobs into a new queue that named it before it existed, or named none while the cluster had no default. */
export async function adoptJobs(
  trx: Trx,
  organizationId: string,
  clusterId: string,
  queue: { id: string; key: string; isDefault: boolean },
): Promise<void> {
  await sql`
    update jobs set queue_id = ${queue.id}, share_key = null
    where organization_id = ${organizationId} and cluster_id = ${clusterId} and queue_id is null and finished_at is null
      and kind = 'script' and case
        when exists (select from unnest(agent_query_rules) as rule where rule like 'queue=%')
        then ${`queue=${queue.key}`} = any (agent_query_rules) else ${queue.isDefault} end`.execute(trx)
}
