import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { clusterUrl } from '../clusters/present.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { QueueRow } from './queries.ts'
import { readShape } from './rules.ts'
import type { Queue } from './schema.ts'

type Wire = Static<typeof Queue>

export function presentQueue(url: string, orgSlug: string, queue: QueueRow): Wire {
  const cluster = clusterUrl(url, orgSlug, queue.cluster_id)
  return {
    id: queue.id,
    graphql_id: graphqlId('ClusterQueue', queue.id),
    key: queue.key,
    description: queue.description,
    url: `${cluster}/queues/${queue.id}`,
    web_url: `${url}/organizations/${orgSlug}/clusters/${queue.cluster_id}/queues/${queue.id}`,
    cluster_url: cluster,
    retry_agent_affinity: queue.retry_agent_affinity,
    fair_by: queue.fair_by,
    fair_weights: queue.fair_weights,
    machine_limit_percent: queue.machine_limit_percent,
    price_per_minute: queue.price_micros / 1_000_000,
    dispatch_paused: queue.dispatch_paused_at !== null,
    dispatch_paused_by: presentUserOrNull(url, queue.dispatch_paused_by),
    dispatch_paused_at: queue.dispatch_paused_at,
    dispatch_paused_note: queue.dispatch_paused_note,
    created_at: queue.created_at,
    created_by: presentUserOrNull(url, queue.created_by),
    ...(queue.instance_shape === null ? {} : hostedFields(queue.instance_shape, queue.agent_image_ref)),
  }
}

function hostedFields(shapeName: string, imageRef: string | null): Pick<Wire, 'hosted' | 'hosted_agents'> {
  const shape = readShape(shapeName)
  const settings = shape.machine_type === 'macos' ? { macos: {} } : { linux: { agent_image_ref: imageRef } }
  return { hosted: true, hosted_agents: { instance_shape: shape, platform_settings: settings } }
}
