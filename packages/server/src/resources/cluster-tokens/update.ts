import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as clusterTokens from './queries.ts'
import { readFields } from './rules.ts'
import type { UpdateClusterTokenBody } from './schema.ts'

const audited = ['description', 'allowed_ip_addresses', 'expires_at'] as const

export async function updateClusterToken(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  tokenId: string,
  body: UpdateClusterTokenBody,
): Promise<clusterTokens.ClusterTokenRow> {
  const change = readFields(body)
  return inTransaction(ctx.db, async (trx) => {
    const before = await clusterTokens.lockInCluster(trx, org.id, clusterId, tokenId)
    if (before === undefined) throw notFound('No token found')
    await clusterTokens.updateInCluster(trx, org.id, clusterId, tokenId, change)
    const after = { ...before, ...change }
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_TOKEN_UPDATED',
      subject: { type: 'ClusterToken', uuid: tokenId, name: after.description },
      data: changedAttributes(before, after, audited),
    })
    return after
  })
}
