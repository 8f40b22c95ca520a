import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import { hashToken, newToken } from '../../../lib/ids.ts'
import type { CreatedInvitation } from './create.ts'
import * as invitations from './queries.ts'
import { enqueueMail } from './send-mail.ts'

/** Only the hash of a code is stored, so the link is a new one. */
export async function resendInvitation(
  { ctx, org, caller }: RequestContext,
  id: string,
): Promise<CreatedInvitation> {
  const code = newToken('mriv_')
  return inTransaction(ctx.db, async (trx) => {
    const isRenewed = await invitations.renewPending(trx, org.id, id, hashToken(code))
    const invitation = await invitations.getInOrg(trx, org.id, id)
    if (!isRenewed)
      throw refused(`Only a pending invitation can be sent again; this one is ${invitation.state}`)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'ORGANIZATION_INVITATION_RESENT',
      subject: { type: 'OrganizationInvitation', uuid: id, name: invitation.email },
    })
    await enqueueMail(ctx, trx, org.id, { id, code })
    return { ...invitation, code }
  })
}
