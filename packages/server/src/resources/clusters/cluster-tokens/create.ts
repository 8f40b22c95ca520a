import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { hashToken, newId, newToken } from '../../../lib/ids.ts'
import * as clusters from '../clusters/queries.ts'
import * as clusterTokens from './queries.ts'
import { readNewFields } from './rules.ts'
import type { CreateClusterTokenBody } from './schema.ts'

/** Only the response has the token's value; the table has its hash. */
export async function createClusterToken(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  body: CreateClusterTokenBody,
): Promise<{ row: clusterTokens.ClusterTokenRow; value: string }> {
  const [id, value, fields] = [newId(), newToken('mrct_'), readNewFields(body, ctx.now())]
  return inTransaction(ctx.db, async (trx) => {
    await clusters.lockInOrg(trx, org.id, clusterId)
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
    return { row: await clusterTokens.getInCluster(trx, org.id, clusterId, id), value }
  })
}
