import { sql } from 'kysely'
import { dispatchOrder } from '../conductor/dispatch/claim.ts'
import type { HostedSettings } from '../config/hosted.ts'
import type { Trx } from '../db/pool.ts'
import type { ImagesOfCluster } from './rules.ts'

export interface RunnableJob {
  id: string
  build_id: string
  organization_id: string
  cluster_id: string
  queue_id: string
  pipeline_id: string
  pipeline_slug: string
  rules: string[]
  runnable_at: string
  image: string | null
  cache: { name: string | null; sizeGb: number } | null
  container_cache: boolean
  instance_shape: string
  queue_image: string | null
}

const most = 200

/** Jobs without a hosted agent, one per organization in rotation, so that no organization takes all the capacity. */
export async function listRunnable(trx: Trx): Promise<RunnableJob[]> {
  const { rows } = await sql<RunnableJob>`
    select j.id, j.build_id, j.organization_id, j.cluster_id, j.queue_id, j.pipeline_id, p.slug as pipeline_slug,
      j.agent_query_rules as rules, j.runnable_at, j.work ->> 'image' as image, nullif(j.work -> 'cache', 'null') as cache,
      c.hosted_container_cache_enabled as container_cache, q.instance_shape, q.agent_image_ref as queue_image
    from cluster_queues q join clusters c on c.id = q.cluster_id and c.hosted
    cross join lateral (
      select * from jobs j where j.queue_id = q.id and j.state = 'scheduled' and j.kind = 'script'
        and not exists (select from hosted_agents h where h.job_id = j.id)
      order by ${dispatchOrder} limit ${most}) j
    join pipelines p on p.id = j.pipeline_id
    where q.instance_shape is not null and q.dispatch_paused_at is null
    order by row_number() over (
      partition by j.organization_id order by ${dispatchOrder}), j.scheduled_at
    limit ${most}`.execute(trx)
  return rows
}

export interface IdleAgent {
  id: string
  queue_id: string
  image_ref: string
  instance_shape: string
  /** The id of its agent, if that is connected. */
  connected_id: string | null
}

export async function loadIdle(trx: Trx): Promise<IdleAgent[]> {
  const { rows } = await sql<IdleAgent>`
    select h.id, h.queue_id, h.image_ref, h.instance_shape, a.id as connected_id
    from hosted_agents h left join agents a on a.id = h.agent_id and a.connection_state = 'connected'
    where h.job_id is null and h.state in ('starting', 'warm') and (h.agent_id is null or a.paused_at is null)
    order by h.created_at for update of h skip locked`.execute(trx)
  return rows
}

export interface WarmQueue {
  organization_id: string
  cluster_id: string
  queue_id: string
  instance_shape: string
  queue_image: string | null
}

export async function loadWarmQueues(trx: Trx, since: string): Promise<WarmQueue[]> {
  const { rows } = await sql<WarmQueue>`
    select q.organization_id, q.cluster_id, q.id as queue_id, q.instance_shape, q.agent_image_ref as queue_image
    from cluster_queues q join clusters c on c.id = q.cluster_id and c.hosted
    where q.instance_shape is not null and q.hosted_used_at > ${since} and q.dispatch_paused_at is null
      and not c.hosted_container_cache_enabled
    order by q.hosted_used_at desc`.execute(trx)
  return rows
}

export async function loadImages(
  trx: Trx,
  { registry, baseImage }: HostedSettings,
  clusterIds: readonly string[],
): Promise<Map<string, ImagesOfCluster>> {
  const { rows } = await sql<{ cluster_id: string; name: string; ref: string; status: string }>`
    select cluster_id, name, ref, status from agent_images
    where cluster_id = any (${[...new Set(clusterIds)]}::uuid[]) and status <> 'FAILED' and deleting_at is null`.execute(
    trx,
  )
  return new Map(
    clusterIds.map((clusterId) => {
      const own = rows.filter(({ cluster_id }) => cluster_id === clusterId)
      const ready = new Map(own.flatMap(({ name, ref, status }) => (status === 'READY' ? [[name, ref]] : [])))
      const building = new Set(own.flatMap(({ name, status }) => (status === 'BUILDING' ? [name] : [])))
      return [clusterId, { registry, baseImage, ready, building }]
    }),
  )
}
