// Writes a team's access to a pipeline, each time with its audit event. The callers check permissions.
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Trx } from '../../../db/pool.ts'
import type { AccessLevel } from './schema.ts'
import * as teamPipelines from './queries.ts'

interface Access {
  teamId: string
  pipeline: { id: string; name: string }
  level: AccessLevel
}

/** False when the team has the pipeline already. */
export async function insertAccess(
  trx: Trx,
  org: Organization,
  caller: Caller,
  access: Access,
): Promise<boolean> {
  const isNew = await teamPipelines.insert(trx, {
    organization_id: org.id,
    team_id: access.teamId,
    pipeline_id: access.pipeline.id,
    access_level: access.level,
  })
  if (isNew) await audit(trx, org, caller, 'TEAM_PIPELINE_CREATED', access)
  return isNew
}

export async function updateAccess(
  trx: Trx,
  org: Organization,
  caller: Caller,
  access: Access,
): Promise<void> {
  const { teamId, pipeline, level } = access
  const isChanged = await teamPipelines.updateLevel(trx, org.id, teamId, pipeline.id, level)
  if (isChanged) await audit(trx, org, caller, 'TEAM_PIPELINE_UPDATED', access)
}

/** False when the team does not have the pipeline. */
export async function deleteAccess(
  trx: Trx,
  org: Organization,
  caller: Caller,
  access: Omit<Access, 'level'>,
): Promise<boolean> {
  const isDeleted = await teamPipelines.deleteInTeam(trx, org.id, access.teamId, access.pipeline.id)
  if (isDeleted) await audit(trx, org, caller, 'TEAM_PIPELINE_DELETED', access)
  return isDeleted
}

/** Gives the pipeline to these teams and to no others. */
export async function replaceTeams(
  trx: Trx,
  org: Organization,
  caller: Caller,
  pipeline: { id: string; name: string },
  levels: ReadonlyMap<string, AccessLevel>,
): Promise<void> {
  const current = await teamPipelines.listTeamIds(trx, org.id, pipeline.id)
  for (const teamId of current) {
    if (!levels.has(teamId)) await deleteAccess(trx, org, caller, { teamId, pipeline })
  }
  for (const [teamId, level] of levels) {
    const save = current.includes(teamId) ? updateAccess : insertAccess
    await save(trx, org, caller, { teamId, pipeline, level })
  }
}

async function audit(
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  { teamId, pipeline, level }: Partial<Access> & Omit<Access, 'level'>,
): Promise<void> {
  await recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'TeamPipeline', uuid: pipeline.id, name: pipeline.name },
    data: { team_id: teamId, pipeline_id: pipeline.id, access_level: level },
  })
}
