import { Type } from 'typebox'
import { byCaller, recordAudit } from '../../audit/record.ts'
import { inTransaction } from '../../db/transaction.ts'
import { created, noContent, ok } from '../../http/answer.ts'
import { pageAnswer, readPage } from '../../http/paging.ts'
import { uuid } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { notFound } from '../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import { createMaintainer, readActor } from './create.ts'
import { presentMaintainer } from './present.ts'
import * as maintainers from './queries.ts'
import { CreateMaintainer, Maintainer } from './schema.ts'

const listMaintainers = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers',
  summary: 'List the maintainers of a cluster, oldest first',
  scope: 'read_clusters',
  permission: 'member',
  params: { cluster: uuid('cluster') },
  paging: 'pages',
  answers: { 200: Type.Array(Maintainer) },
  async handler({ ctx, org, params, url }) {
    if (!(await clusters.existsInOrg(ctx.db, org.id, params.cluster))) throw notFound('No cluster found')
    const page = readPage(url)
    return pageAnswer(
      page,
      await maintainers.listInCluster(ctx.db, org.id, params.cluster, page),
      presentMaintainer,
    )
  },
})

const getMaintainer = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers/:maintainer',
  summary: 'Get a maintainer of a cluster',
  scope: 'read_clusters',
  permission: 'member',
  params: { cluster: uuid('cluster'), maintainer: uuid('maintainer') },
  answers: { 200: Maintainer },
  async handler({ ctx, org, params }) {
    const maintainer = await maintainers.findInCluster(ctx.db, org.id, params.cluster, params.maintainer)
    if (maintainer === undefined) throw notFound('No maintainer found')
    return ok(presentMaintainer(maintainer))
  },
})

const postMaintainer = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers',
  summary: 'Make a user or a team a maintainer of a cluster',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  params: { cluster: uuid('cluster') },
  body: CreateMaintainer,
  answers: { 201: Maintainer },
  errors: { 422: 'Not exactly one of user and team, nobody of that id, or a maintainer already.' },
  async handler({ ctx, org, caller, params, body }) {
    const actor = readActor(body)
    return inTransaction(ctx.db, async (trx) => {
      const cluster = await clusters.lockInOrg(trx, org.id, params.cluster)
      if (cluster === undefined) throw notFound('No cluster found')
      return created(presentMaintainer(await createMaintainer(trx, org, caller, cluster, actor)))
    })
  },
})

const removeMaintainer = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/maintainers/:maintainer',
  summary: 'Remove a maintainer from a cluster',
  scope: 'write_clusters',
  permission: 'manage_cluster',
  params: { cluster: uuid('cluster'), maintainer: uuid('maintainer') },
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    return inTransaction(ctx.db, async (trx) => {
      const maintainer = await maintainers.findInCluster(trx, org.id, params.cluster, params.maintainer)
      const isGone =
        maintainer === undefined ||
        !(await maintainers.deleteInCluster(trx, org.id, params.cluster, maintainer.id))
      if (isGone) throw notFound('No maintainer found')
      await recordAudit(trx, byCaller(caller), {
        organizationId: org.id,
        type: 'CLUSTER_PERMISSION_DELETED',
        subject: {
          type: 'ClusterPermission',
          uuid: maintainer.id,
          name: (maintainer.user ?? maintainer.team)?.name ?? null,
        },
        data: { cluster_id: params.cluster },
      })
      return noContent()
    })
  },
})

export const maintainerRoutes = [listMaintainers, getMaintainer, postMaintainer, removeMaintainer]
