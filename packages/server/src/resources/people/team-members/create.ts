import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, validationFailed } from '../../../lib/errors.ts'
import * as teamMembers from './queries.ts'
import type { CreateTeamMemberBody } from './schema.ts'

export async function createTeamMember(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  body: CreateTeamMemberBody,
): Promise<teamMembers.TeamMemberRow> {
  return inTransaction(ctx.db, async (trx) => {
    const team = await teamMembers.holdTeam(trx, org.id, teamId)
    if (team === undefined) throw notFound('No team found')
    const user = await teamMembers.holdMember(trx, org.id, body.user_id)
    if (user === undefined) throw validationFailed('user_id must be the UUID of a member of the organization')
    const role = body.role ?? team.default_member_role
    const row = { organization_id: org.id, team_id: team.id, user_id: user.id, role }
    if (!(await teamMembers.insert(trx, row))) throw validationFailed('this user is in the team already')
    const member = await teamMembers.getInTeam(trx, org.id, team.id, user.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_MEMBER_CREATED',
      subject: { type: 'TeamMember', uuid: user.id, name: member.user_name },
      data: { team_id: team.id, role },
    })
    return member
  })
}
