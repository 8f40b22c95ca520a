import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { newId } from '../../../lib/ids.ts'
import { splitUserinfo } from '../../../lib/userinfo.ts'
import { replaceTeams } from '../team-access/access.ts'
import { auditedAttributes } from './audited.ts'
import * as pipelines from './queries.ts'
import type { CreatePipelineBody } from './schema.ts'
import { newAddress, sealUserinfo, sealWebhookToken, withPlainRepository } from './sealed.ts'
import { resolveNewFields } from './fields.ts'
import { teamsOfNew } from './teams.ts'

export async function createPipeline(
  { ctx, org, caller }: RequestContext,
  body: CreatePipelineBody,
): Promise<pipelines.PipelineRow> {
  return inTransaction(ctx.db, async (trx) => {
    const teams = await teamsOfNew(trx, org, caller, body)
    const fields = await resolveNewFields(trx, org, caller, withPlainRepository(body))
    const id = newId()
    await pipelines.insert(trx, {
      ...fields,
      id,
      organization_id: org.id,
      created_by: caller.user.id,
      ...sealWebhookToken(ctx.keys, newAddress()),
      ...sealUserinfo(ctx.keys, splitUserinfo(body.repository).userinfo),
      badge_token: newAddress(),
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_CREATED',
      subject: { type: 'Pipeline', uuid: id, name: fields.name },
      data: auditedAttributes(fields),
    })
    await replaceTeams(trx, org, caller, { id, name: fields.name }, teams)
    return pipelines.getInOrg(trx, org, caller, id)
  })
}
