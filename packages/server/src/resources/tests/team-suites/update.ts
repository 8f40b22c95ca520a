import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { auditAccess } from '../suites/give-to-teams.ts'
import { holdManaged } from './create.ts'
import { readLevel } from './present.ts'
import * as teamSuites from './queries.ts'
import type { AccessLevels } from './schema.ts'

export async function updateTeamSuite(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  suiteId: string,
  levels: AccessLevels,
): Promise<teamSuites.TeamSuiteRow> {
  return inTransaction(ctx.db, async (trx) => {
    await teamSuites.getInTeam(trx, org, caller, teamId, suiteId)
    const suite = await holdManaged(trx, org, caller, suiteId)
    if (suite === null) throw notFound('No team suite found')
    const level = readLevel(levels)
    if (await teamSuites.updateLevel(trx, org.id, teamId, suite.id, level)) {
      await auditAccess(trx, org, caller, 'TEAM_SUITE_UPDATED', { teamId, suite, level })
    }
    return teamSuites.getInTeam(trx, org, caller, teamId, suite.id)
  })
}
