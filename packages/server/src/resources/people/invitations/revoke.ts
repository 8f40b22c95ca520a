import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import * as invitations from './queries.ts'

export async function revokeInvitation({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const revoked = await invitations.revokePending(trx, org.id, id, caller.user.id)
    if (revoked === undefined) {
      const { state } = await invitations.getInOrg(trx, org.id, id)
      throw refused(`Only a pending invitation can be revoked; this one is ${state}`)
    }
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_INVITATION_REVOKED',
      subject: { type: 'OrganizationInvitation', uuid: revoked.id, name: revoked.email },
    })
  })
}
