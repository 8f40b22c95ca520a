import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import * as clusters from '../clusters/queries.ts'
import { createMaintainer } from './create.ts'
import { deleteMaintainer } from './delete.ts'
import { presentMaintainer } from './present.ts'
import * as maintainers from './queries.ts'
import { CreateMaintainer, Maintainer } from './schema.ts'

const listMaintainersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers',
  summary: 'List the maintainers of a cluster, oldest first',
  scope: 'read_clusters',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(Maintainer) },
  async handler({ ctx, org, params, url }) {
    await clusters.getInOrg(ctx.db, org.id, params.cluster)
    const page = readPage(url)
    const rows = await maintainers.listInCluster(ctx.db, org.id, params.cluster, page)
    return pageAnswer(page, rows, presentMaintainer)
  },
})

const getMaintainerRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers/:maintainer',
  summary: 'Get a maintainer of a cluster',
  scope: 'read_clusters',
  permission: 'member',
  answers: { 200: Maintainer },
  async handler({ ctx, org, params }) {
    const maintainer = await maintainers.getInCluster(ctx.db, org.id, params.cluster, params.maintainer)
    return ok(presentMaintainer(maintainer))
  },
})

const createMaintainerRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers',
  summary: 'Make a user or a team a maintainer of a cluster',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  body: CreateMaintainer,
  answers: { 201: Maintainer },
  errors: { 422: 'Not exactly one of user and team, nobody of that id, or a maintainer already.' },
  async handler({ ctx, org, caller, params, body }) {
    const maintainer = await createMaintainer({ ctx, org, caller }, params.cluster, body)
    return created(presentMaintainer(maintainer))
  },
})

const deleteMaintainerRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers/:maintainer',
  summary: 'Remove a maintainer from a cluster',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteMaintainer({ ctx, org, caller }, params.cluster, params.maintainer)
    return noContent()
  },
})

export const maintainerRoutes = [
  listMaintainersRoute,
  getMaintainerRoute,
  createMaintainerRoute,
  deleteMaintainerRoute,
]
