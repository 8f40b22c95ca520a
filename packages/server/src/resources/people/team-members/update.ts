import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as teamMembers from './queries.ts'
import type { UpdateTeamMemberBody } from './schema.ts'

export async function updateTeamMember(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  userId: string,
  { role }: UpdateTeamMemberBody,
): Promise<teamMembers.TeamMemberRow> {
  return inTransaction(ctx.db, async (trx) => {
    await teamMembers.updateRole(trx, org.id, teamId, userId, role)
    const member = await teamMembers.getInTeam(trx, org.id, teamId, userId)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_MEMBER_UPDATED',
      subject: { type: 'TeamMember', uuid: member.user_id, name: member.user_name },
      data: { team_id: member.team_id, role },
    })
    return member
  })
}
