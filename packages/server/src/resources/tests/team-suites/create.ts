import type { Caller, Organization } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, notFound, validationFailed } from '../../../lib/errors.ts'
import { holdTeams } from '../../pipelines/team-access/queries.ts'
import { insertAccess } from '../suites/give-to-teams.ts'
import * as suites from '../suites/queries.ts'
import { readLevel } from './present.ts'
import * as teamSuites from './queries.ts'
import type { CreateTeamSuiteBody } from './schema.ts'

export async function createTeamSuite(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  { suite_id: suiteId, access_level: levels }: CreateTeamSuiteBody,
): Promise<teamSuites.TeamSuiteRow> {
  return inTransaction(ctx.db, async (trx) => {
    const [team] = await holdTeams(trx, org, caller, [teamId])
    if (team === undefined) throw notFound('No team found')
    const suite = await holdManaged(trx, org, caller, suiteId)
    if (suite === null) throw validationFailed('suite_id is not a suite of this organization')
    const access = { teamId: team.id, suite, level: readLevel(levels) }
    if (!(await insertAccess(trx, org, caller, access))) {
      throw validationFailed(`the team has the suite "${suite.name}" already`)
    }
    return teamSuites.getInTeam(trx, org, caller, team.id, suite.id)
  })
}

/** Null when the caller may not see the suite. Only those who manage a suite may give it to a team. */
export async function holdManaged(
  trx: Trx,
  org: Organization,
  caller: Caller,
  suiteId: string,
): Promise<{ id: string; name: string } | null> {
  const suite = await suites.holdById(trx, org, caller, suiteId)
  if (suite === undefined) return null
  if (!suite.may_manage) throw forbidden()
  return suite
}
