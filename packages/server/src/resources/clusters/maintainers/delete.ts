import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as maintainers from './queries.ts'

export async function deleteMaintainer(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  maintainerId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { user, team } = await maintainers.getInCluster(trx, org.id, clusterId, maintainerId)
    await maintainers.deleteInCluster(trx, org.id, clusterId, maintainerId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CLUSTER_PERMISSION_DELETED',
      subject: { type: 'ClusterPermission', uuid: maintainerId, name: (user ?? team)?.name ?? null },
      data: { cluster_id: clusterId },
    })
  })
}
