import type { Static } from 'typebox'
import { clusterUrl } from '../clusters/present.ts'
import type { AgentImageRow } from './queries.ts'
import { composeDockerfile } from './rules.ts'
import type { AgentImage } from './schema.ts'

export function presentAgentImage(
  url: string,
  orgSlug: string,
  image: AgentImageRow,
): Static<typeof AgentImage> {
  const cluster = clusterUrl(url, orgSlug, image.cluster_id)
  return {
    id: image.id,
    name: image.name,
    status: image.status,
    image_ref: image.status === 'READY' ? image.ref : null,
    version: image.version,
    last_build_error: image.last_build_error,
    dockerfile: image.dockerfile,
    base_image: image.base_image,
    composed_dockerfile: composeDockerfile(image.base_image, image.dockerfile),
    url: `${cluster}/agent-images/${image.id}`,
    log_url: `${cluster}/agent-images/${image.id}/log`,
    web_url: `${url}/organizations/${orgSlug}/clusters/${image.cluster_id}/agent_images/${image.id}`,
    cluster_url: cluster,
  }
}
