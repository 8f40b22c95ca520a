import { Type } from 'typebox'
import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { unavailable } from '../../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import { NetworkRange } from './schema.ts'

const listNetworkRangesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/network_ranges',
  summary: 'List the address ranges that a hosted cluster’s agents connect from',
  scope: 'read_clusters',
  permission: 'manage_cluster',
  answers: { 200: Type.Array(NetworkRange) },
  errors: { 503: 'The hosted-agent service cannot return the ranges; asking again is safe.' },
  async handler({ ctx, org, params }) {
    const cluster = await clusters.getInOrg(ctx.db, org.id, params.cluster)
    if (!cluster.hosted) return ok([])
    throw unavailable('Could not load network ranges: the hosted-agent service is not running')
  },
})

export const networkRangeRoutes = [listNetworkRangesRoute]
