import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, refused, validationFailed } from '../../../lib/errors.ts'
import * as organizations from '../organizations/queries.ts'
import * as members from './queries.ts'
import type { UpdateMemberBody } from './schema.ts'

export async function updateMember(
  { ctx, org, caller }: RequestContext,
  userId: string,
  body: UpdateMemberBody,
): Promise<members.MemberRow> {
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await members.getInOrg(trx, org.id, userId)
    if (before.id === caller.user.id) throw forbidden('You cannot update your own membership')
    if (body.role === undefined && body.sso_mode === undefined) {
      throw validationFailed('role or sso_mode is required')
    }
    const after = { ...before, role: body.role ?? before.role, sso_mode: body.sso_mode ?? before.sso_mode }
    const losesAdmin = before.role === 'admin' && after.role !== 'admin'
    if (losesAdmin && !(await members.hasOtherAdmin(trx, org.id, before.id))) {
      throw refused('The last administrator of an organization must stay one')
    }
    await members.updateInOrg(trx, org.id, before.id, { role: after.role, sso_mode: after.sso_mode })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_MEMBER_UPDATED',
      subject: { type: 'OrganizationMember', uuid: after.id, name: after.name },
      data: changedAttributes(before, after, ['role', 'sso_mode']),
    })
    return after
  })
}
