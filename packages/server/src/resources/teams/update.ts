import { byCaller, changedAttributes, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { forbidden, notFound } from '../../lib/errors.ts'
import * as teams from './queries.ts'
import { grantingFields, readFields, teamFields } from './rules.ts'
import type { UpdateTeamBody } from './schema.ts'

export async function updateTeam(
  ctx: Context,
  org: Organization,
  caller: Caller,
  teamId: string,
  body: UpdateTeamBody,
): Promise<teams.TeamRow> {
  // A maintainer runs the team; what the team may do in the organization is an administrator's to say.
  if (org.role !== 'admin' && grantingFields.some((field) => body[field] !== undefined)) throw forbidden()
  return inTransaction(ctx.db, async (trx) => {
    const before = await teams.findVisible(trx, org, caller, teamId)
    if (before === undefined) throw notFound('No team found')
    await teams.updateInOrg(trx, org.id, before.id, readFields(body))
    const after = await teams.findVisible(trx, org, caller, before.id)
    if (after === undefined) throw notFound('No team found')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_UPDATED',
      subject: { type: 'Team', uuid: after.id, name: after.name },
      data: changedAttributes(before, after, teamFields),
    })
    return after
  })
}
