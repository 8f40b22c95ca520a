import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import * as queues from './queries.ts'

export async function deleteQueue(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  queueId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    // Setting the default queue locks the cluster too, so this queue cannot become the default in the meantime.
    const cluster = await clusters.lockInOrg(trx, org.id, clusterId)
    const queue = await queues.lockInCluster(trx, org.id, clusterId, queueId)
    if (cluster.default_queue_id === queueId) {
      throw refused(`${queue.key} is the default queue of this cluster; choose another default queue first`)
    }
    const running = await queues.lockHostedAgentsWithJobs(trx, org.id, queueId)
    if (running > 0) {
      const jobs = running === 1 ? '1 job runs' : `${running} jobs run`
      throw refused(
        `${jobs} on hosted agents of ${queue.key}; cancel them, or delete the queue when they have ended`,
      )
    }
    await queues.deleteInCluster(trx, org.id, clusterId, queueId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_QUEUE_DELETED',
      subject: { type: 'ClusterQueue', uuid: queueId, name: queue.key },
      data: { cluster_id: clusterId },
    })
  })
}
