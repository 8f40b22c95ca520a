import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import type { AccessLevel } from '../team-access/schema.ts'
import { updateAccess } from '../team-access/access.ts'
import { holdManaged } from './create.ts'
import * as teamPipelines from './queries.ts'

export async function updateTeamPipeline(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  pipelineId: string,
  level: AccessLevel,
): Promise<teamPipelines.TeamPipelineRow> {
  return inTransaction(ctx.db, async (trx) => {
    await teamPipelines.getInTeam(trx, org, caller, teamId, pipelineId)
    const pipeline = await holdManaged(trx, org, caller, pipelineId)
    if (pipeline === null) throw notFound('No team pipeline found')
    await updateAccess(trx, org, caller, { teamId, pipeline, level })
    return teamPipelines.getInTeam(trx, org, caller, teamId, pipelineId)
  })
}
