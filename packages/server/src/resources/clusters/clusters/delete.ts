import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import * as clusters from './queries.ts'

export async function deleteCluster({ ctx, org, caller }: RequestContext, clusterId: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const cluster = await clusters.lockToDelete(trx, org.id, clusterId)
    const count = await clusters.countPipelines(trx, org.id, clusterId)
    if (count > 0) {
      const some = count === 1 ? '1 pipeline belongs' : `${count} pipelines belong`
      throw refused(`The cluster cannot be deleted: ${some} to it.`)
    }
    const connected = await clusters.countConnectedAgents(trx, org.id, clusterId)
    if (connected > 0) {
      const some = connected === 1 ? '1 agent is' : `${connected} agents are`
      throw refused(`The cluster cannot be deleted: ${some} connected to it. Stop them first.`)
    }
    await clusters.deleteInOrg(trx, org.id, clusterId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_DELETED',
      subject: { type: 'Cluster', uuid: clusterId, name: cluster.name },
    })
  })
}
