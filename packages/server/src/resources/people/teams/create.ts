import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as organizations from '../organizations/queries.ts'
import * as teams from './queries.ts'
import { mostTeams, readFields, slugOf, teamFields } from './rules.ts'
import type { CreateTeamBody } from './schema.ts'

export async function createTeam(
  { ctx, org, caller }: RequestContext,
  body: CreateTeamBody,
): Promise<teams.TeamRow> {
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    if ((await teams.countInOrg(trx, org.id)) >= mostTeams) {
      throw validationFailed(`an organization has at most ${mostTeams} teams`)
    }
    return insertTeam(trx, org, caller, body)
  })
}

export async function insertTeam(
  trx: Trx,
  org: Organization,
  caller: Caller,
  body: CreateTeamBody,
): Promise<teams.TeamRow> {
  const id = newId()
  await teams.insert(trx, {
    id,
    organization_id: org.id,
    created_by: caller.user.id,
    name: body.name,
    slug: slugOf(body.name),
    ...readFields(body),
  })
  const team = await teams.getVisible(trx, org, caller, id)
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type: 'TEAM_CREATED',
    subject: { type: 'Team', uuid: id, name: team.name },
    data: Object.fromEntries(teamFields.map((key) => [key, team[key]])),
  })
  return team
}
