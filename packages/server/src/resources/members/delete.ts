import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound, refused } from '../../lib/errors.ts'
import { lockOrganization } from '../organizations/lock.ts'
import * as members from './queries.ts'

/** Their tokens stop reaching the organization with the commit: every request asks for the membership. */
export async function removeMember(
  ctx: Context,
  org: Organization,
  caller: Caller,
  userId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    await lockOrganization(trx, org.id)
    const member = await members.findInOrg(trx, org.id, userId)
    if (member === undefined) throw notFound('No member found')
    if (member.role === 'admin' && !(await members.hasOtherAdmin(trx, org.id, member.id))) {
      throw refused('The last administrator of an organization cannot be removed')
    }
    await members.deleteInOrg(trx, org.id, member.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_MEMBER_DELETED',
      subject: { type: 'OrganizationMember', uuid: member.id, name: member.name },
    })
  })
}
