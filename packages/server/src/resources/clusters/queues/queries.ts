import { sql } from 'kysely'
import type { Trx } from '../../../db/pool.ts'
import { violatedUnique } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { childQueries } from '../../child-queries.ts'
import { userJson, type UserRow } from '../../people/user/queries.ts'

export interface QueueRow {
  id: string
  cluster_id: string
  key: string
  description: string | null
  retry_agent_affinity: 'prefer-warmest' | 'prefer-different'
  /** null: the queue is not hosted. */
  instance_shape: string | null
  agent_image_ref: string | null
  fair_by: 'none' | 'pipeline' | 'team' | 'creator'
  fair_weights: Record<string, number>
  machine_limit_percent: number | null
  price_micros: number
  dispatch_paused_at: string | null
  dispatch_paused_note: string | null
  dispatch_paused_by: UserRow | null
  created_at: string
  created_by: UserRow | null
}

const select = sql`
  select q.id, q.cluster_id, q.key, q.description, q.retry_agent_affinity, q.instance_shape, q.agent_image_ref,
    q.fair_by, q.fair_weights, q.machine_limit_percent, q.price_micros, q.dispatch_paused_at, q.dispatch_paused_note, ${userJson('pauser')} as dispatch_paused_by,
    q.created_at, ${userJson('creator')} as created_by
  from cluster_queues q
  left join users creator on creator.id = q.created_by left join users pauser on pauser.id = q.dispatch_paused_by`

export const {
  get: getInCluster,
  list: listInCluster,
  lock: lockInCluster,
  delete: deleteInCluster,
} = childQueries<QueueRow>({
  table: 'cluster_queues',
  alias: 'q',
  select,
  parent: 'cluster_id',
  missing: 'No queue found',
})

export async function countInCluster(trx: Trx, orgId: string, clusterId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from cluster_queues
    where organization_id = ${orgId} and cluster_id = ${clusterId}`.execute(trx)
  return rows[0]?.count ?? 0
}

export interface QueueFields {
  description: string | null
  retry_agent_affinity: string
  instance_shape: string | null
  agent_image_ref: string | null
  price_micros: number
}

export interface FairFields {
  fair_by: string
  /** JSON. */
  fair_weights: string
  machine_limit_percent: number | null
}

export interface DispatchFields {
  dispatch_paused_at: string | null
  dispatch_paused_by: string | null
  dispatch_paused_note: string | null
}

export async function insert(
  trx: Trx,
  row: Partial<QueueFields> & {
    id: string
    organization_id: string
    cluster_id: string
    key: string
    created_by: string
  },
): Promise<void> {
  await trx
    .insertInto('cluster_queues')
    .values(row)
    .execute()
    .catch((error: unknown) => {
      if (violatedUnique(error) !== 'cluster_queues_key_key') throw error
      throw validationFailed(`the cluster already has a queue with the key ${row.key}`)
    })
}

export async function updateInCluster(
  trx: Trx,
  orgId: string,
  clusterId: string,
  id: string,
  change: Partial<QueueFields & FairFields & DispatchFields>,
): Promise<void> {
  if (Object.keys(change).length === 0) return
  await trx
    .updateTable('cluster_queues')
    .set(change)
    .where('organization_id', '=', orgId)
    .where('cluster_id', '=', clusterId)
    .where('id', '=', id)
    .execute()
}

/**
 * The number of hosted agents of the queue that run a job. Until the transaction ends, none of the queue's hosted
 * agents takes a job.
 */
export async function lockHostedAgentsWithJobs(trx: Trx, orgId: string, id: string): Promise<number> {
  const { rows } = await sql<{ hasJob: boolean }>`
    with held as (
      select job_id from hosted_agents where organization_id = ${orgId} and queue_id = ${id} for update
    )
    select exists (select from jobs j where j.id = held.job_id and j.finished_at is null) as "hasJob" from held`.execute(
    trx,
  )
  return rows.filter(({ hasJob }) => hasJob).length
}

/** Whether a queue of the cluster may use the agent image. If so, it cannot be deleted until the transaction ends. */
export async function holdImage(trx: Trx, orgId: string, clusterId: string, ref: string): Promise<boolean> {
  const { rows } = await sql`
    select from agent_images where organization_id = ${orgId} and cluster_id = ${clusterId} and ref = ${ref}
      and status = 'READY' and deleting_at is null
    for share`.execute(trx)
  return rows.length > 0
}
