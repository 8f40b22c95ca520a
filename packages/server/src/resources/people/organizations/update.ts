import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as organizations from './queries.ts'
import type { UpdateOrganizationBody } from './schema.ts'

export async function updateOrganization(
  { ctx, org, caller }: RequestContext,
  body: UpdateOrganizationBody,
): Promise<organizations.OrganizationRow> {
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await organizations.get(trx, org.id)
    const after = { ...before, name: body.name }
    const changes = changedAttributes(before, after, ['name'])
    if (Object.keys(changes).length === 0) return before
    await organizations.updateName(trx, org.id, body.name)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_UPDATED',
      subject: { type: 'Organization', uuid: org.id, name: body.name },
      data: changes,
    })
    return after
  })
}
