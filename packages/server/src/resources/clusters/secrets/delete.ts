import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as secrets from './queries.ts'

export async function deleteSecret(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  secretId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const secret = await secrets.lockInCluster(trx, org.id, clusterId, secretId)
    await secrets.deleteInCluster(trx, org.id, clusterId, secretId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SECRET_DELETED',
      subject: { type: 'Secret', uuid: secretId, name: secret.key },
      data: { cluster_id: clusterId },
    })
  })
}
