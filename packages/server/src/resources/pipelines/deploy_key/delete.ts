import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as deployKeys from './queries.ts'

export async function deleteDeployKey(
  { ctx, org, caller }: RequestContext,
  { id, name }: { id: string; name: string },
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const fingerprint = await deployKeys.deleteOfPipeline(trx, org.id, id)
    if (fingerprint === undefined) throw notFound('No deploy key found')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_UPDATED',
      subject: { type: 'Pipeline', uuid: id, name },
      data: { deploy_key_deleted: fingerprint },
    })
  })
}
