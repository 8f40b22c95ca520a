// The queries of stacks. A stack sees the jobs of all queues of its cluster.
import { sql } from 'kysely'
import type { JobState } from '@millrace/engine/states.ts'
import type { Context } from '../../context.ts'
import type { Db } from '../../db/pool.ts'
import type { Position } from '../../http/cursors.ts'
import { notFound } from '../../lib/errors.ts'
import { isUuid, newId } from '../../lib/ids.ts'
import type { Registration } from '../tokens.ts'

export interface Stack {
  id: string
  organizationId: string
  clusterId: string
}

interface NewStack {
  key: string
  type: string
  queueId: string
  metadata: Record<string, string>
}

/** Inserts a stack, or updates the one with the same key. */
export async function saveStack(
  ctx: Context,
  { organization, cluster }: Registration,
  { key, type, queueId, metadata }: NewStack,
): Promise<{ id: string; isNew: boolean; lastConnectedAt: string }> {
  const at = ctx.now().toISOString()
  const { rows } = await sql<{ id: string; isNew: boolean; lastConnectedAt: string }>`
    insert into stacks as s (id, organization_id, cluster_id, queue_id, key, type, metadata, last_connected_at)
    values (${newId()}, ${organization.id}, ${cluster.id}, ${queueId}, ${key}, ${type}, ${JSON.stringify(metadata)}, ${at})
    on conflict (cluster_id, key) do update set queue_id = excluded.queue_id, type = excluded.type,
      metadata = excluded.metadata, last_connected_at = excluded.last_connected_at, disconnected_at = null
    returning id, s.xmax = 0 as "isNew", last_connected_at as "lastConnectedAt"`.execute(ctx.db)
  const [stack] = rows
  if (stack === undefined) throw new Error('A stack vanished while it registered.')
  return stack
}

export async function getStack(
  { db }: Context,
  { organization, cluster }: Registration,
  key: string | undefined,
): Promise<Stack> {
  const { rows } = await sql<Stack>`
    select id, organization_id as "organizationId", cluster_id as "clusterId" from stacks
    where organization_id = ${organization.id} and cluster_id = ${cluster.id} and key = ${key}`.execute(db)
  const [stack] = rows
  if (stack === undefined) throw notFound('No stack found')
  return stack
}

export async function noteConnected(ctx: Context, stack: Stack): Promise<void> {
  await ctx.db
    .updateTable('stacks')
    .set({ last_connected_at: ctx.now().toISOString(), disconnected_at: null })
    .where('organization_id', '=', stack.organizationId)
    .where('id', '=', stack.id)
    .execute()
}

export async function noteDisconnected(ctx: Context, stack: Stack): Promise<void> {
  await ctx.db
    .updateTable('stacks')
    .set({ disconnected_at: ctx.now().toISOString() })
    .where('organization_id', '=', stack.organizationId)
    .where('id', '=', stack.id)
    .execute()
}

interface ServedQueue {
  id: string
  key: string
  isPaused: boolean
}

/** How documentation and programs spell the cluster's default queue. */
const defaultNames: ReadonlySet<string> = new Set(['', '_default', '__default__', '~', '-'])

export async function getQueue(
  { db }: Context,
  { organization, cluster, defaultQueue }: Registration,
  key: string,
): Promise<ServedQueue> {
  const wanted = defaultNames.has(key) ? defaultQueue?.key : key
  const { rows } = await sql<ServedQueue>`
    select id, key, dispatch_paused_at is not null as "isPaused" from cluster_queues
    where organization_id = ${organization.id} and cluster_id = ${cluster.id} and key = ${wanted}`.execute(db)
  const [queue] = rows
  if (queue === undefined) throw notFound('No queue found')
  return queue
}

interface ScheduledJob {
  id: string
  priority: number
  agent_query_rules: string[]
  scheduled_at: string
  pipeline: { slug: string; uuid: string }
  build: { uuid: string; number: number; branch: string }
  step: { key: string | null }
}

/** Stacks choose by priority, so jobs of forks get the lowest. */
const lowestPriority = sql.lit(-2_147_483_648)

/** Oldest first, without those that a stack has reserved. */
export async function listScheduled(
  db: Db,
  organizationId: string,
  queueId: string,
  page: { after: Position | null; limit: number },
): Promise<ScheduledJob[]> {
  const behind = page.after && sql`and (j.scheduled_at, j.id) > (${page.after.at}, ${page.after.id})`
  const { rows } = await sql<ScheduledJob>`
    select j.id, case when j.untrusted then ${lowestPriority} else j.priority end as priority,
      j.agent_query_rules, j.scheduled_at,
      json_build_object('slug', p.slug, 'uuid', p.id) as pipeline,
      json_build_object('uuid', b.id, 'number', b.number, 'branch', b.branch) as build,
      json_build_object('key', j.step_key) as step
    from jobs j join builds b on b.id = j.build_id join pipelines p on p.id = j.pipeline_id
    where j.organization_id = ${organizationId} and j.queue_id = ${queueId} and j.state = 'scheduled' ${behind ?? sql``}
    order by j.scheduled_at, j.id limit ${page.limit}`.execute(db)
  return rows
}

/** Command jobs only; ids that name none are left out. */
export async function listStates(
  db: Db,
  stack: Stack,
  jobIds: readonly string[],
): Promise<Array<{ id: string; state: JobState }>> {
  const { rows } = await sql<{ id: string; state: JobState }>`
    select id, state from jobs
    where organization_id = ${stack.organizationId} and cluster_id = ${stack.clusterId} and kind = 'script'
      and id = any (${jobIds.filter(isUuid)}::uuid[])`.execute(db)
  return rows
}
