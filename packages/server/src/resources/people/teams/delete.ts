import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as teams from './queries.ts'

export async function deleteTeam({ ctx, org, caller }: RequestContext, teamId: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const team = await teams.deleteInOrg(trx, org.id, teamId)
    if (team === undefined) throw notFound('No team found')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TEAM_DELETED',
      subject: { type: 'Team', uuid: team.id, name: team.name },
    })
  })
}
