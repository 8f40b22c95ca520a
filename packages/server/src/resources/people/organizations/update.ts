import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import * as organizations from './queries.ts'
import type { UpdateOrganizationBody } from './schema.ts'

export async function updateOrganization(
  { ctx, org, caller }: RequestContext,
  body: UpdateOrganizationBody,
): Promise<organizations.OrganizationRow> {
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await organizations.get(trx, org.id)
    const after = { ...before, ...changeOf(body) }
    const changes = changedAttributes(before, after, ['name', 'emoji'])
    if (Object.keys(changes).length === 0) return before
    await organizations.updateGeneral(trx, org.id, after)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_UPDATED',
      subject: { type: 'Organization', uuid: org.id, name: after.name },
      data: changes,
    })
    return after
  })
}

/** An empty emoji becomes null. */
function changeOf({ name, emoji }: UpdateOrganizationBody): Partial<organizations.OrganizationRow> {
  if (name === undefined && emoji === undefined) throw validationFailed('name or emoji must be given')
  return { ...(name === undefined ? {} : { name }), ...(emoji === undefined ? {} : { emoji: emoji || null }) }
}
