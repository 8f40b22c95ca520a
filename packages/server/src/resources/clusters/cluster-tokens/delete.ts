import { byCaller, recordAudit } from '../../../audit/record.ts'
import { endSessions, loseJobs } from '../../../conductor/revoke-agents.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as clusterTokens from './queries.ts'

/** Ends the sessions of the agents that registered with the token, and ends their jobs as those of lost agents. */
export async function deleteClusterToken(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  tokenId: string,
): Promise<void> {
  const agentIds = await inTransaction(ctx.db, async (trx) => {
    const token = await clusterTokens.lockInCluster(trx, org.id, clusterId, tokenId)
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
  await loseJobs(ctx, org.id, agentIds)
}
