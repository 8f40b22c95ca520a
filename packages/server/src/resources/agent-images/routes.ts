import { Type } from 'typebox'
import type { Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { ok } from '../../http/answer.ts'
import { text, uuid } from '../../http/params.ts'
import { route, type RequiredFeature } from '../../http/route.ts'
import { notFound, refused, unavailable, validationFailed } from '../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import { hasFrom } from './rules.ts'
import { AgentImage, CreateAgentImage } from './schema.ts'

const noImage = 'No agent image found with the given ID.'
const notRunning = 'The hosted-agent service is not running. Asking again is safe.'

// Spec, Any agent image operation: 404 when the feature is unavailable for the organization.
const customImages: RequiredFeature = {
  name: 'custom_agent_images',
  otherwise: { status: 404, message: 'Agent images are not available for this organization' },
}

const listAgentImages = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images',
  summary: 'List the agent images of a hosted cluster by name',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  params: { cluster: uuid('cluster') },
  answers: { 200: Type.Array(AgentImage) },
  errors: {
    404: 'The organization does not have custom agent images, or there is no such cluster.',
    503: 'The hosted-agent service cannot return the images; asking again is safe.',
  },
  async handler({ ctx, org, params }) {
    const cluster = await getCluster(ctx, org, params.cluster)
    if (!cluster.hosted) return ok([])
    throw unavailable(notRunning)
  },
})

const getAgentImage = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images/:image',
  summary: 'Get an agent image',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  params: { cluster: uuid('cluster'), image: text('agent image') },
  answers: { 200: AgentImage },
  errors: {
    404: 'The organization does not have custom agent images, the cluster is not hosted, or nothing has the id.',
    503: 'The hosted-agent service cannot return the image; asking again is safe.',
  },
  async handler({ ctx, org, params }) {
    const cluster = await getCluster(ctx, org, params.cluster)
    if (!cluster.hosted) throw notFound(noImage)
    throw unavailable(notRunning)
  },
})

const postAgentImage = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images',
  summary: 'Create an agent image and begin to build it',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  params: { cluster: uuid('cluster') },
  body: CreateAgentImage,
  answers: { 201: AgentImage },
  errors: {
    404: 'The organization does not have custom agent images, or there is no such cluster.',
    409: 'The cluster has an image of that name.',
    422: 'The body is not valid, its dockerfile has a FROM instruction, or the cluster is not hosted.',
    503: 'The hosted-agent service could not create the image; asking again is safe.',
  },
  async handler({ ctx, org, params, body }) {
    const cluster = await getCluster(ctx, org, params.cluster)
    if (!cluster.hosted) throw refused('Agent images can only be created in a hosted cluster')
    if (hasFrom(body.dockerfile)) {
      throw validationFailed('dockerfile must not have a FROM instruction; the base image is put before it')
    }
    throw unavailable(notRunning)
  },
})

const removeAgentImage = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images/:image',
  summary: 'Delete an agent image',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  params: { cluster: uuid('cluster'), image: text('agent image') },
  answers: { 204: null },
  errors: {
    404: 'The organization does not have custom agent images, the cluster is not hosted, or nothing has the id.',
    409: 'The image is assigned to one or more queues.',
    503: 'The hosted-agent service could not delete the image; asking again is safe.',
  },
  async handler({ ctx, org, params }) {
    const cluster = await getCluster(ctx, org, params.cluster)
    if (!cluster.hosted) throw notFound(noImage)
    throw unavailable(notRunning)
  },
})

async function getCluster(ctx: Context, org: Organization, clusterId: string): Promise<clusters.ClusterRow> {
  const cluster = await clusters.findInOrg(ctx.db, org.id, clusterId)
  if (cluster === undefined) throw notFound('No cluster found')
  return cluster
}

export const agentImageRoutes = [listAgentImages, getAgentImage, postAgentImage, removeAgentImage]
