import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import * as organizations from '../organizations/queries.ts'
import * as members from './queries.ts'

/** With the commit, the user's tokens no longer reach the organization, because every request checks the membership. */
export async function deleteMember({ ctx, org, caller }: RequestContext, userId: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const member = await members.getInOrg(trx, org.id, userId)
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
