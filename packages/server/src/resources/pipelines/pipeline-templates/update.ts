import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refuseUnreadable } from './create.ts'
import * as templates from './queries.ts'
import type { UpdatePipelineTemplateBody } from './schema.ts'

/** Updates the pipelines that use the template too. */
export async function updateTemplate(
  { ctx, org, caller }: RequestContext,
  id: string,
  body: UpdatePipelineTemplateBody,
): Promise<templates.TemplateRow> {
  if (body.configuration !== undefined)
    await refuseUnreadable(body.configuration, { organizationId: org.id, sender: caller.user.id })
  return inTransaction(ctx.db, async (trx) => {
    const before = await templates.lockVisible(trx, org, id)
    await templates.updateInOrg(trx, org.id, id, {
      name: body.name ?? before.name,
      configuration: body.configuration ?? before.configuration,
      description: body.description === undefined ? before.description : (body.description ?? ''),
      available: body.available ?? before.available,
      updated_at: ctx.now().toISOString(),
      updated_by: caller.user.id,
    })
    const after = await templates.getVisible(trx, org, id)
    const isRewritten = after.configuration !== before.configuration
    if (isRewritten) await templates.updatePipelines(trx, org.id, id, after.configuration)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_TEMPLATE_UPDATED',
      subject: { type: 'PipelineTemplate', uuid: id, name: after.name },
      data: {
        ...changedAttributes(before, after, ['name', 'description', 'available']),
        ...(isRewritten ? { configuration_changed: true } : {}),
      },
    })
    return after
  })
}
