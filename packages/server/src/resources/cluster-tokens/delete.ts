import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import { endSessions, takeJobs } from '../../conductor/revoke-agents.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as clusterTokens from './queries.ts'

/** Counts at once for the agents that registered with it. */
export async function deleteClusterToken(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  tokenId: string,
): Promise<void> {
  const agentIds = await inTransaction(ctx.db, async (trx) => {
    const token = await clusterTokens.lockInCluster(trx, org.id, clusterId, tokenId)
    if (token === undefined) throw notFound('No token found')
    const revoked = (await clusterTokens.listAgents(trx, org.id, tokenId)).map(({ id }) => id)
    await endSessions(trx, org.id, revoked, ctx.now().toISOString())
    await clusterTokens.deleteInCluster(trx, org.id, clusterId, tokenId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_TOKEN_DELETED',
      subject: { type: 'ClusterToken', uuid: tokenId, name: token.description },
      data: { cluster_id: clusterId },
    })
    return revoked
  })
  await takeJobs(ctx, org.id, agentIds)
}
