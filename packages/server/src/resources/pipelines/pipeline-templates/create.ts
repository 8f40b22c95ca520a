import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import type { Owner } from '../../../lib/holdings.ts'
import { newId } from '../../../lib/ids.ts'
import { problemsOf } from '../configuration-problems.ts'
import * as templates from './queries.ts'
import type { CreatePipelineTemplateBody } from './schema.ts'

export async function createTemplate(
  { ctx, org, caller }: RequestContext,
  body: CreatePipelineTemplateBody,
): Promise<templates.TemplateRow> {
  await refuseUnreadable(body.configuration, { organizationId: org.id, sender: caller.user.id })
  const { name, configuration } = body
  const fields = {
    name,
    configuration,
    description: body.description ?? '',
    available: body.available ?? false,
  }
  const id = newId()
  return inTransaction(ctx.db, async (trx) => {
    const { id: by } = caller.user
    await templates.insert(trx, { id, organization_id: org.id, created_by: by, updated_by: by, ...fields })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_TEMPLATE_CREATED',
      subject: { type: 'PipelineTemplate', uuid: id, name },
      data: { name, description: fields.description, available: fields.available },
    })
    return templates.getVisible(trx, org, id)
  })
}

export async function refuseUnreadable(configuration: string, owner: Owner): Promise<void> {
  const problems = await problemsOf(configuration, owner)
  if (problems.length > 0) throw validationFailed(`configuration, ${problems.join('; ')}`)
}
