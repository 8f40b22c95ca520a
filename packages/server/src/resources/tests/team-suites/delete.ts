import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { auditAccess } from '../suites/give-to-teams.ts'
import * as teamSuites from './queries.ts'

export async function deleteTeamSuite(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  suiteId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { suite_name: name } = await teamSuites.getInTeam(trx, org, caller, teamId, suiteId)
    if (!(await teamSuites.deleteInTeam(trx, org.id, teamId, suiteId))) {
      throw notFound('No team suite found')
    }
    await auditAccess(trx, org, caller, 'TEAM_SUITE_DELETED', { teamId, suite: { id: suiteId, name } })
  })
}
