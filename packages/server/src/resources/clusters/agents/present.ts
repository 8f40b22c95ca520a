import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { clusterUrl } from '../clusters/present.ts'
import type { Job } from '../../job/schema.ts'
import { presentUserOrNull } from '../../people/user/present.ts'
import type { AgentRow } from './queries.ts'
import type { Agent } from './schema.ts'

export function presentAgent(url: string, orgSlug: string, agent: AgentRow): Static<typeof Agent> {
  const cluster = clusterUrl(url, orgSlug, agent.cluster_id)
  const queue = agent.queue_id === null ? '' : `/queues/${agent.queue_id}`
  return {
    id: agent.id,
    graphql_id: graphqlId('Agent', agent.id),
    url: `${url}/v2/organizations/${orgSlug}/agents/${agent.id}`,
    web_url: `${url}/organizations/${orgSlug}/clusters/${agent.cluster_id}${queue}/agents/${agent.id}`,
    name: agent.name,
    connection_state: agent.connection_state,
    hostname: agent.hostname,
    ip_address: agent.ip_address,
    user_agent: agent.user_agent,
    version: agent.version,
    os_id: agent.os,
    arch: agent.arch,
    queue: agent.queue_key,
    cluster_url: cluster,
    cluster_queue_url: agent.queue_id === null ? null : `${cluster}/queues/${agent.queue_id}`,
    creator: presentUserOrNull(url, agent.creator),
    created_at: agent.created_at,
    connected_at: agent.connected_at,
    disconnected_at: agent.disconnected_at,
    lost_at: agent.lost_at,
    stopped_at: agent.stopped_at,
    job: agent.job === null ? null : (JSON.parse(agent.job) as Static<typeof Job>),
    last_job_finished_at: agent.last_job_finished_at,
    priority: agent.priority,
    meta_data: agent.tags,
    paused: agent.paused_at !== null,
    paused_at: agent.paused_at,
    paused_by: presentUserOrNull(url, agent.paused_by),
    paused_note: agent.paused_note,
    paused_timeout_in_minutes: agent.paused_timeout_in_minutes,
  }
}
