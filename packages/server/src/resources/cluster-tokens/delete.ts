import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as clusterTokens from './queries.ts'

export async function deleteClusterToken(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  tokenId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const token = await clusterTokens.lockInCluster(trx, org.id, clusterId, tokenId)
    if (token === undefined) throw notFound('No token found')
    await clusterTokens.deleteInCluster(trx, org.id, clusterId, tokenId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_TOKEN_DELETED',
      subject: { type: 'ClusterToken', uuid: tokenId, name: token.description },
      data: { cluster_id: clusterId },
    })
  })
}
