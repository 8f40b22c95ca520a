import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { hashToken, newId, newToken } from '../../lib/ids.ts'
import * as clusters from '../clusters/queries.ts'
import * as clusterTokens from './queries.ts'
import { readNew } from './rules.ts'
import type { CreateClusterTokenBody } from './schema.ts'

/** The value leaves with the answer; what stays is its hash. */
export async function createClusterToken(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  body: CreateClusterTokenBody,
): Promise<{ row: clusterTokens.ClusterTokenRow; value: string }> {
  const [id, value, fields] = [newId(), newToken('mrct_'), readNew(body, ctx.now())]
  return inTransaction(ctx.db, async (trx) => {
    const cluster = await clusters.lockInOrg(trx, org.id, clusterId)
    if (cluster === undefined) throw notFound('No cluster found')
    await clusterTokens.insert(trx, {
      id,
      organization_id: org.id,
      cluster_id: clusterId,
      token_hash: hashToken(value),
      created_by: caller.user.id,
      ...fields,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_TOKEN_CREATED',
      subject: { type: 'ClusterToken', uuid: id, name: fields.description },
      data: { cluster_id: clusterId, ...fields },
    })
    const row = await clusterTokens.findInCluster(trx, org.id, clusterId, id)
    if (row === undefined) throw new Error('A cluster token vanished in the transaction that made it.')
    return { row, value }
  })
}
