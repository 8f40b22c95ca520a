// Gives teams access to pipelines and takes it away. Each change writes its audit event; who may is asked before.
import { byCaller, recordAudit } from '../../audit/record.ts'
import type { AuditType } from '../../audit/types.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Trx } from '../../db/pool.ts'
import type { AccessLevel } from '../pipelines/schema.ts'
import * as teamPipelines from './queries.ts'

export interface Assignment {
  teamId: string
  pipeline: { id: string; name: string }
}

/** Whether the team did not have the pipeline before. */
export async function assignTeam(
  trx: Trx,
  org: Organization,
  caller: Caller,
  { teamId, pipeline }: Assignment,
  level: AccessLevel,
): Promise<boolean> {
  const row = { organization_id: org.id, team_id: teamId, pipeline_id: pipeline.id, access_level: level }
  const isNew = await teamPipelines.insert(trx, row)
  if (isNew) await audit(trx, org, caller, 'TEAM_PIPELINE_CREATED', { teamId, pipeline }, level)
  return isNew
}

export async function changeLevel(
  trx: Trx,
  org: Organization,
  caller: Caller,
  { teamId, pipeline }: Assignment,
  level: AccessLevel,
): Promise<void> {
  const isChanged = await teamPipelines.updateLevel(trx, org.id, teamId, pipeline.id, level)
  if (isChanged) await audit(trx, org, caller, 'TEAM_PIPELINE_UPDATED', { teamId, pipeline }, level)
}

/** Whether the team had the pipeline. */
export async function unassignTeam(
  trx: Trx,
  org: Organization,
  caller: Caller,
  { teamId, pipeline }: Assignment,
): Promise<boolean> {
  const isGone = await teamPipelines.deleteInTeam(trx, org.id, teamId, pipeline.id)
  if (isGone) await audit(trx, org, caller, 'TEAM_PIPELINE_DELETED', { teamId, pipeline })
  return isGone
}

/** From now on these teams have the pipeline, and no others. */
export async function setTeams(
  trx: Trx,
  org: Organization,
  caller: Caller,
  pipeline: { id: string; name: string },
  wanted: ReadonlyMap<string, AccessLevel>,
): Promise<void> {
  const current = await teamPipelines.levelsOfPipeline(trx, org.id, pipeline.id)
  for (const teamId of current.keys()) {
    if (!wanted.has(teamId)) await unassignTeam(trx, org, caller, { teamId, pipeline })
  }
  for (const [teamId, level] of wanted) {
    if (current.has(teamId)) await changeLevel(trx, org, caller, { teamId, pipeline }, level)
    else await assignTeam(trx, org, caller, { teamId, pipeline }, level)
  }
}

async function audit(
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  { teamId, pipeline }: Assignment,
  level?: AccessLevel,
): Promise<void> {
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'TeamPipeline', uuid: pipeline.id, name: pipeline.name },
    data: {
      team_id: teamId,
      pipeline_id: pipeline.id,
      ...(level === undefined ? {} : { access_level: level }),
    },
  })
}
