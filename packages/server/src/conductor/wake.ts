// Tells every process, at the commit of a change, whose waiting agents it concerns. PostgreSQL drops repetitions
// within a transaction, and what is lost with a connection is made up for when dispatch.ts connects again.
import { sql } from 'kysely'
import type { Db, Trx } from '../db/pool.ts'
import type { Statement } from '../db/together.ts'
import type { JobMove } from './save.ts'

/** Its payload is the ids of queues that have jobs to hand out, separated by commas. */
export const queueChannel = 'millrace_queues'
/** Its payload is the id of an agent that has something new to hear. */
export const agentChannel = 'millrace_agents'

const onAgent: ReadonlySet<string | null> = new Set([
  'assigned',
  'accepted',
  'running',
  'timing_out',
  'canceling',
])

/** The agents that these moves set free. Before the moves are written, which may forget who had the job. */
export function wakeFreedAgents(moves: readonly JobMove[]): Statement[] {
  const left = moves.filter(({ from, to }) => onAgent.has(from) && !onAgent.has(to)).map(({ jobId }) => jobId)
  if (left.length === 0) return []
  const statement = sql`
    select pg_notify(${agentChannel}, agent_id::text) from jobs
    where ${isOneOf(left)} and agent_id is not null`
  return [statement]
}

export function wakeQueuesOf(runnableJobs: readonly string[]): Statement[] {
  if (runnableJobs.length === 0) return []
  const statement = sql`
    select pg_notify(${queueChannel}, string_agg(distinct queue_id::text, ',')) from jobs
    where ${isOneOf(runnableJobs)} and queue_id is not null having count(*) > 0`
  return [statement]
}

/** A statement with `=` is planned once, one with an array again and again. */
const isOneOf = (ids: readonly string[]) =>
  ids.length === 1 ? sql`id = ${ids[0]}` : sql`id = any (${ids}::uuid[])`

export async function wakeQueue(trx: Trx, queueId: string): Promise<void> {
  await sql`select pg_notify(${queueChannel}, ${queueId})`.execute(trx)
}

export async function wakeAgent(db: Db, agentId: string): Promise<void> {
  await sql`select pg_notify(${agentChannel}, ${agentId})`.execute(db)
}
