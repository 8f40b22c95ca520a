import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as teamMembers from './queries.ts'
import type { UpdateTeamMemberBody } from './schema.ts'

export async function updateTeamMember(
  ctx: Context,
  org: Organization,
  caller: Caller,
  ids: { team: string; user: string },
  { role }: UpdateTeamMemberBody,
): Promise<teamMembers.TeamMemberRow> {
  return inTransaction(ctx.db, async (trx) => {
    await teamMembers.updateRole(trx, org.id, ids.team, ids.user, role)
    const member = await teamMembers.findInTeam(trx, org.id, ids.team, ids.user)
    if (member === undefined) throw notFound('No team member found')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_MEMBER_UPDATED',
      subject: { type: 'TeamMember', uuid: member.user_id, name: member.user_name },
      data: { team_id: member.team_id, role },
    })
    return member
  })
}
