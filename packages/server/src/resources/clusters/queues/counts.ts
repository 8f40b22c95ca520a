import { sql } from 'kysely'
import type { Db } from '../../../db/pool.ts'

interface QueueCounts {
  waiting: number
  running: number
  agents: number
}

/** What the metrics of each queue call waiting, running and connected, for many queues at once. By id of the queue. */
export async function countInQueues(
  db: Db,
  orgId: string,
  queueIds: readonly string[],
): Promise<ReadonlyMap<string, QueueCounts>> {
  const { rows } = await sql<QueueCounts & { id: string }>`
    select q.id, j.waiting, j.running, a.agents
    from unnest(${queueIds}::uuid[]) q(id)
    cross join lateral (
      select count(*) filter (where j.state = 'scheduled') as waiting,
        count(*) filter (where j.state in ('running', 'timing_out', 'canceling')) as running
      from jobs j where j.organization_id = ${orgId} and j.queue_id = q.id and j.finished_at is null) j
    cross join lateral (
      select count(*) as agents from agents a
      where a.organization_id = ${orgId} and a.queue_id = q.id and a.connection_state in ('connected', 'stopping')) a`.execute(
    db,
  )
  return new Map(rows.map(({ id, ...counts }) => [id, counts]))
}
