// Notifies every process, at the commit of a change, of the queues and agents it concerns. PostgreSQL drops repetitions
// within a transaction. After a lost connection, dispatch.ts looks at all waiting agents again.
import { sql, type RawBuilder } from 'kysely'
import type { Db, Trx } from '../db/pool.ts'
import { prepared, type Statement } from '../db/statement.ts'
import type { JobMove } from './save.ts'

/** Its payload is the ids of queues that have runnable jobs, separated by commas. */
export const queueChannel = 'millrace_queues'
/** Its payload is the id of an agent that something changed for, and ` free` if that is the end of its job. */
export const agentChannel = 'millrace_agents'

const onAgent: ReadonlySet<string | null> = new Set([
  'assigned',
  'accepted',
  'running',
  'timing_out',
  'canceling',
])

/**
 * Notifies the agents whose jobs end with these moves. This must run before the moves are saved, which may clear
 * `agent_id`. `known` is a job whose agent the caller has loaded.
 */
export function wakeFreedAgents(
  moves: readonly JobMove[],
  known?: { id: string; agentId: string | null },
): Statement[] {
  const left = moves.filter(({ from, to }) => onAgent.has(from) && !onAgent.has(to)).map(({ jobId }) => jobId)
  if (left.length === 0) return []
  if (known === undefined || left.some((jobId) => jobId !== known.id)) return [agentsOf(left)]
  return known.agentId === null ? [] : [notify(agentChannel, `${known.agentId} free`)]
}

const agentsOf = prepared(
  (jobIds: readonly string[]) => sql`
    select pg_notify(${agentChannel}, agent_id || ' free') from jobs
    where id = any (${jobIds}::uuid[]) and agent_id is not null`,
)

const notify = prepared((channel: string, payload: string) => sql`select pg_notify(${channel}, ${payload})`)

/** PostgreSQL plans a statement with `=` once, but one with an array every time. */
export function wakeQueuesOf(runnableJobs: readonly string[]): Statement[] {
  const [first] = runnableJobs
  if (first === undefined) return []
  return [runnableJobs.length === 1 ? queueOf(first) : queuesOf(runnableJobs)]
}

const notifyQueues = (which: RawBuilder<unknown>) => sql`
  select pg_notify(${queueChannel}, string_agg(distinct queue_id::text, ',')) from jobs
  where ${which} and queue_id is not null having count(*) > 0`
const queueOf = prepared((jobId: string) => notifyQueues(sql`id = ${jobId}`))
const queuesOf = prepared((jobIds: readonly string[]) => notifyQueues(sql`id = any (${jobIds}::uuid[])`))

export async function wakeQueue(trx: Trx, queueId: string): Promise<void> {
  await sql`select pg_notify(${queueChannel}, ${queueId})`.execute(trx)
}

export async function wakeAgent(db: Db, agentId: string): Promise<void> {
  await sql`select pg_notify(${agentChannel}, ${agentId})`.execute(db)
}
