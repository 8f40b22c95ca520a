import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import * as clusters from '../clusters/queries.ts'
import { createClusterToken } from './create.ts'
import { deleteClusterToken } from './delete.ts'
import { presentClusterToken } from './present.ts'
import * as clusterTokens from './queries.ts'
import { ClusterToken, CreateClusterToken, CreatedClusterToken, UpdateClusterToken } from './schema.ts'
import { updateClusterToken } from './update.ts'

const listClusterTokensRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/tokens',
  summary: 'List the agent tokens of a cluster, oldest first',
  scope: 'read_clusters',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(ClusterToken) },
  async handler({ ctx, org, params, url }) {
    await clusters.getInOrg(ctx.db, org.id, params.cluster)
    const page = readPage(url)
    const rows = await clusterTokens.listInCluster(ctx.db, org.id, params.cluster, page)
    return pageAnswer(page, rows, (row) => presentClusterToken(ctx.config.url, org.slug, row))
  },
})

const getClusterTokenRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/tokens/:token',
  summary: 'Get an agent token',
  scope: 'read_clusters',
  permission: 'member',
  answers: { 200: ClusterToken },
  async handler({ ctx, org, params }) {
    const token = await clusterTokens.getInCluster(ctx.db, org.id, params.cluster, params.token)
    return ok(presentClusterToken(ctx.config.url, org.slug, token))
  },
})

const createClusterTokenRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/tokens',
  summary: 'Create an agent token',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: CreateClusterToken,
  answers: { 201: CreatedClusterToken },
  async handler({ ctx, org, caller, params, body }) {
    const { row, value } = await createClusterToken({ ctx, org, caller }, params.cluster, body)
    return created({ ...presentClusterToken(ctx.config.url, org.slug, row), token: value })
  },
})

const updateClusterTokenRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/clusters/:cluster/tokens/:token',
  summary: 'Update an agent token',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: UpdateClusterToken,
  answers: { 200: ClusterToken },
  async handler({ ctx, org, caller, params, body }) {
    const token = await updateClusterToken({ ctx, org, caller }, params.cluster, params.token, body)
    return ok(presentClusterToken(ctx.config.url, org.slug, token))
  },
})

const deleteClusterTokenRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/tokens/:token',
  summary: 'Revoke an agent token',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteClusterToken({ ctx, org, caller }, params.cluster, params.token)
    return noContent()
  },
})

export const clusterTokenRoutes = [
  listClusterTokensRoute,
  getClusterTokenRoute,
  createClusterTokenRoute,
  updateClusterTokenRoute,
  deleteClusterTokenRoute,
]
