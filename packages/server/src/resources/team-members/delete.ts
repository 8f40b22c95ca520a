import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as teamMembers from './queries.ts'

export async function removeTeamMember(
  ctx: Context,
  org: Organization,
  caller: Caller,
  ids: { team: string; user: string },
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const member = await teamMembers.findInTeam(trx, org.id, ids.team, ids.user)
    const wasThere = await teamMembers.deleteInTeam(trx, org.id, ids.team, ids.user)
    if (member === undefined || !wasThere) throw notFound('No team member found')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_MEMBER_DELETED',
      subject: { type: 'TeamMember', uuid: member.user_id, name: member.user_name },
      data: { team_id: member.team_id },
    })
  })
}
