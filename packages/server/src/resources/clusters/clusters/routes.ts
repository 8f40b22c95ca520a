import { Type } from 'typebox'
import { listManagedClusters, mayManageCluster } from '../../../auth/permissions.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { IncludeViewer } from '../../schema.ts'
import { createCluster } from './create.ts'
import { deleteCluster } from './delete.ts'
import { presentCluster, presentManagedCluster } from './present.ts'
import * as clusters from './queries.ts'
import { Cluster, CreateCluster, UpdateCluster } from './schema.ts'
import { updateCluster } from './update.ts'

const listClustersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters',
  summary: 'List clusters, oldest first',
  scope: 'read_clusters',
  permission: 'member',
  query: IncludeViewer,
  paging: 'pages',
  answers: { 200: Type.Array(Cluster) },
  async handler({ ctx, org, caller, query, url }) {
    const page = readPage(url)
    const rows = await clusters.listInOrg(ctx.db, org.id, page)
    if (!query.include_viewer)
      return pageAnswer(page, rows, (row) => presentCluster(ctx.config.url, org.slug, row))
    const managed = await listManagedClusters(
      ctx.db,
      org,
      caller,
      rows.map(({ id }) => id),
    )
    return pageAnswer(page, rows, (row) => {
      const mayManage = managed.has(row.id)
      const present = mayManage ? presentManagedCluster : presentCluster
      return { ...present(ctx.config.url, org.slug, row), viewer: { may: { manage: mayManage } } }
    })
  },
})

const getClusterRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster',
  summary: 'Get a cluster',
  scope: 'read_clusters',
  permission: 'member',
  query: IncludeViewer,
  answers: { 200: Cluster },
  async handler({ ctx, org, caller, params, query }) {
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    const mayManage = await mayManageCluster(ctx.db, org, caller, cluster.id)
    const present = mayManage ? presentManagedCluster : presentCluster
    const viewer = query.include_viewer ? { viewer: { may: { manage: mayManage } } } : {}
    return ok({ ...present(ctx.config.url, org.slug, cluster), ...viewer })
  },
})

const createClusterRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters',
  summary: 'Create a cluster',
  scope: 'write_clusters',
  permission: 'admin',
  body: CreateCluster,
  answers: { 201: Cluster },
  errors: {
    422: 'The body is not valid, or a maintainer is neither a member nor a team of the organization.',
  },
  async handler({ ctx, org, caller, body }) {
    const cluster = await createCluster({ ctx, org, caller }, body)
    // Spec, Cluster: the hosted cache fields are absent in create responses.
    return created({ ...presentCluster(ctx.config.url, org.slug, cluster), hosted: cluster.hosted })
  },
})

const updateClusterRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/clusters/:cluster',
  summary: 'Update a cluster',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: UpdateCluster,
  callsOut: true,
  answers: { 200: Cluster },
  errors: {
    422: 'The body is not valid, or a changed cache field targets a cluster that is not hosted.',
    503: 'The hosted-agent service could not apply the change; nothing was changed, and asking again is safe.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const cluster = await updateCluster({ ctx, org, caller }, params.cluster, body)
    return ok(presentManagedCluster(ctx.config.url, org.slug, cluster))
  },
})

const deleteClusterRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster',
  summary: 'Delete a cluster with its queues, tokens and secrets',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  answers: { 204: null },
  errors: { 422: 'The cluster cannot be deleted; the message has the reason.' },
  async handler({ ctx, org, caller, params }) {
    await deleteCluster({ ctx, org, caller }, params.cluster)
    return noContent()
  },
})

export const clusterRoutes = [
  listClustersRoute,
  getClusterRoute,
  createClusterRoute,
  updateClusterRoute,
  deleteClusterRoute,
]
