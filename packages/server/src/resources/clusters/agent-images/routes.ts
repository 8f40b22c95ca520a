import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { route, type RequiredFeature } from '../../../http/route.ts'
import { notFound } from '../../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import { createAgentImage } from './create.ts'
import { deleteAgentImage } from './delete.ts'
import { presentAgentImage } from './present.ts'
import * as images from './queries.ts'
import { AgentImage, AgentImageLog, CreateAgentImage } from './schema.ts'
import { callDriver } from '../clusters/hosted-driver.ts'

// Spec, Any agent image operation: 404 when the feature is unavailable for the organization.
const customImages: RequiredFeature = {
  name: 'custom_agent_images',
  error: { status: 404, message: 'Agent images are not available for this organization' },
}

const listAgentImagesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images',
  summary: 'List the agent images of a hosted cluster by name',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  answers: { 200: Type.Array(AgentImage) },
  errors: {
    404: 'The organization does not have custom agent images, or there is no such cluster.',
    503: 'The hosted-agent service cannot return the images; asking again is safe.',
  },
  async handler({ ctx, org, params }) {
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    if (!cluster.hosted) return ok([])
    // READY promises that the image can run, which needs a service that answers.
    await callDriver(ctx, 'return the images', (driver) => driver.check())
    const rows = await images.listInCluster(ctx.db, org.id, cluster.id)
    return ok(rows.map((row) => presentAgentImage(ctx.config.url, org.slug, row)))
  },
})

const getAgentImageRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images/:image',
  summary: 'Get an agent image',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  answers: { 200: AgentImage },
  errors: {
    404: 'The organization does not have custom agent images, the cluster is not hosted, or nothing has the id.',
    503: 'The hosted-agent service cannot return the image; asking again is safe.',
  },
  async handler({ ctx, org, params }) {
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    if (!cluster.hosted) throw notFound(images.noImage)
    await callDriver(ctx, 'return the image', (driver) => driver.check())
    const image = await images.getInCluster(ctx.db, org.id, cluster.id, params.image)
    return ok(presentAgentImage(ctx.config.url, org.slug, image))
  },
})

const getAgentImageLogRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images/:image/log',
  summary: 'Get what the builder of an agent image has said',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  answers: { 200: AgentImageLog },
  errors: {
    404: 'The organization does not have custom agent images, the cluster is not hosted, or nothing has the id.',
  },
  async handler({ ctx, org, params }) {
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    const image = await images.getInCluster(ctx.db, org.id, cluster.id, params.image)
    const content = await images.readLog(ctx.db, org.id, image.id)
    const { url } = presentAgentImage(ctx.config.url, org.slug, image)
    return ok({ url: `${url}/log`, content, size: Buffer.byteLength(content) })
  },
})

const createAgentImageRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images',
  summary: 'Create an agent image and begin to build it',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  body: CreateAgentImage,
  callsOut: true,
  answers: { 201: AgentImage },
  errors: {
    404: 'The organization does not have custom agent images, or there is no such cluster.',
    409: 'The cluster has an image of that name.',
    422: 'The body is not valid, its dockerfile has a FROM instruction, or the cluster is not hosted.',
    503: 'The hosted-agent service could not create the image; asking again is safe.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const image = await createAgentImage({ ctx, org, caller }, params.cluster, body)
    return created(presentAgentImage(ctx.config.url, org.slug, image))
  },
})

const deleteAgentImageRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/agent-images/:image',
  summary: 'Delete an agent image',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  feature: customImages,
  callsOut: true,
  answers: { 204: null },
  errors: {
    404: 'The organization does not have custom agent images, the cluster is not hosted, or nothing has the id.',
    409: 'The image is assigned to one or more queues, or a container of it runs a job.',
    503: 'The hosted-agent service could not delete the image; asking again is safe.',
  },
  async handler({ ctx, org, caller, params }) {
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    if (!cluster.hosted) throw notFound(images.noImage)
    await deleteAgentImage({ ctx, org, caller }, cluster.id, params.image)
    return noContent()
  },
})

export const agentImageRoutes = [
  listAgentImagesRoute,
  getAgentImageRoute,
  getAgentImageLogRoute,
  createAgentImageRoute,
  deleteAgentImageRoute,
]
