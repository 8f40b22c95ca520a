import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import * as templates from './queries.ts'

export async function deleteTemplate({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const template = await templates.lockVisible(trx, org, id)
    const count = await templates.countPipelines(trx, org.id, id)
    if (count > 0) {
      const some = count === 1 ? '1 pipeline uses' : `${count} pipelines use`
      throw refused(`The template cannot be deleted: ${some} it.`)
    }
    await templates.deleteInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_TEMPLATE_DELETED',
      subject: { type: 'PipelineTemplate', uuid: id, name: template.name },
    })
  })
}
