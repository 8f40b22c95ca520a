import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, validationFailed } from '../../../lib/errors.ts'
import * as organizations from '../organizations/queries.ts'
import { unknownOwner } from './create.ts'
import * as accounts from './queries.ts'
import type { UpdateServiceAccountBody } from './schema.ts'

export async function updateServiceAccount(
  { ctx, org, caller }: RequestContext,
  id: string,
  { owner_ids: owners, ...changes }: UpdateServiceAccountBody,
): Promise<accounts.ServiceAccountRow> {
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await accounts.lockInOrg(trx, org.id, id)
    if (before.id === caller.user.id) throw forbidden('A service account cannot update itself')
    await accounts.update(trx, org.id, { ...before, ...changes })
    // Owners have made these, who may not make tokens of an administrator.
    if (before.role !== 'admin' && changes.role === 'admin') await accounts.revokeTokens(trx, org.id, id)
    if (owners !== undefined && !(await accounts.replaceOwners(trx, org.id, id, owners)))
      throw validationFailed(unknownOwner)
    const after = await accounts.getInOrg(trx, org.id, id)
    const flat = (row: accounts.ServiceAccountRow) => ({ ...row, owner_ids: row.owners.map((one) => one.id) })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SERVICE_ACCOUNT_UPDATED',
      subject: { type: 'ServiceAccount', uuid: id, name: after.name },
      data: changedAttributes(flat(before), flat(after), ['name', 'description', 'role', 'owner_ids']),
    })
    return after
  })
}
