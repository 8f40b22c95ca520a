import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as teamMembers from './queries.ts'

export async function deleteTeamMember(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  userId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const member = await teamMembers.getInTeam(trx, org.id, teamId, userId)
    await teamMembers.deleteInTeam(trx, org.id, teamId, userId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_MEMBER_DELETED',
      subject: { type: 'TeamMember', uuid: member.user_id, name: member.user_name },
      data: { team_id: member.team_id },
    })
  })
}
