import type { Caller, Organization } from '../../../auth/caller.ts'
import { pipelineAccess } from '../../../auth/pipeline-access.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, notFound, validationFailed } from '../../../lib/errors.ts'
import * as pipelines from '../pipelines/queries.ts'
import { insertAccess } from '../team-access/access.ts'
import * as teamAccess from '../team-access/queries.ts'
import * as teamPipelines from './queries.ts'
import type { CreateTeamPipelineBody } from './schema.ts'

export async function createTeamPipeline(
  { ctx, org, caller }: RequestContext,
  teamId: string,
  { pipeline_id: pipelineId, access_level: level }: CreateTeamPipelineBody,
): Promise<teamPipelines.TeamPipelineRow> {
  return inTransaction(ctx.db, async (trx) => {
    const [team] = await teamAccess.holdTeams(trx, org, caller, [teamId])
    if (team === undefined) throw notFound('No team found')
    const pipeline = await holdManaged(trx, org, caller, pipelineId)
    if (pipeline === null) throw validationFailed('pipeline_id is not a pipeline of this organization')
    if (!(await insertAccess(trx, org, caller, { teamId: team.id, pipeline, level }))) {
      throw validationFailed(`the team has the pipeline "${pipeline.name}" already`)
    }
    return teamPipelines.getInTeam(trx, org, caller, team.id, pipeline.id)
  })
}

/** Null when the caller may not see the pipeline. Only those who manage a pipeline may give it to a team. */
export async function holdManaged(
  trx: Trx,
  org: Organization,
  caller: Caller,
  pipelineId: string,
): Promise<{ id: string; name: string } | null> {
  const pipeline = await pipelines.holdInOrg(trx, org.id, pipelineId)
  const access = await pipelineAccess(trx, org, caller, pipelineId)
  if (pipeline === undefined || access === 'none') return null
  if (access !== 'manage') throw forbidden()
  return pipeline
}
