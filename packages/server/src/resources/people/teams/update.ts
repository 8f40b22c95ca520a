import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden } from '../../../lib/errors.ts'
import * as teams from './queries.ts'
import { grantingFields, readFields, teamFields } from './rules.ts'
import type { UpdateTeamBody } from './schema.ts'

export async function updateTeam(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  body: UpdateTeamBody,
): Promise<teams.TeamRow> {
  // Maintainers update their team. Only administrators change what the team may do in the organization.
  if (org.role !== 'admin' && grantingFields.some((field) => body[field] !== undefined)) throw forbidden()
  return inTransaction(ctx.db, async (trx) => {
    const before = await teams.getVisible(trx, org, caller, teamId)
    await teams.updateInOrg(trx, org.id, before.id, readFields(body))
    const after = await teams.getVisible(trx, org, caller, before.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_UPDATED',
      subject: { type: 'Team', uuid: after.id, name: after.name },
      data: changedAttributes(before, after, teamFields),
    })
    return after
  })
}
