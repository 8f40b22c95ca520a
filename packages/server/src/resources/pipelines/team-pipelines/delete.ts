import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { deleteAccess } from '../team-access/access.ts'
import * as teamPipelines from './queries.ts'

export async function deleteTeamPipeline(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  pipelineId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { pipeline_name: name } = await teamPipelines.getInTeam(trx, org, caller, teamId, pipelineId)
    const isDeleted = await deleteAccess(trx, org, caller, { teamId, pipeline: { id: pipelineId, name } })
    if (!isDeleted) throw notFound('No team pipeline found')
  })
}
