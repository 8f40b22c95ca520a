// Writes a team's access to a suite, each time with its audit event. The callers check permissions.
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Trx } from '../../../db/pool.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { holdTeams } from '../../pipelines/team-access/queries.ts'

export type SuiteAccess = 'read_only' | 'manage_and_read'

interface NamedSuite {
  id: string
  name: string
}

/** The members of these teams manage the suite. */
export async function giveToTeams(
  trx: Trx,
  org: Organization,
  caller: Caller,
  suite: NamedSuite,
  teamIds: readonly string[],
): Promise<void> {
  const ids = [...new Set(teamIds.map((id) => id.toLowerCase()))]
  const found = await holdTeams(trx, org, caller, ids)
  if (found.length < ids.length) throw validationFailed('team_ids has what is no team of this organization')
  for (const { id: teamId } of found) {
    await insertAccess(trx, org, caller, { teamId, suite, level: 'manage_and_read' })
  }
}

interface Access {
  teamId: string
  suite: NamedSuite
  level: SuiteAccess
}

/** False when the team has the suite already. */
export async function insertAccess(
  trx: Trx,
  org: Organization,
  caller: Caller,
  access: Access,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('team_suites')
    .values({
      organization_id: org.id,
      team_id: access.teamId,
      suite_id: access.suite.id,
      access_level: access.level,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) return false
  await auditAccess(trx, org, caller, 'TEAM_SUITE_CREATED', access)
  return true
}

export const auditAccess = (
  trx: Trx,
  org: Organization,
  caller: Caller,
  type: AuditType,
  { teamId, suite, level }: Omit<Access, 'level'> & { level?: SuiteAccess },
): Promise<void> =>
  recordAudit(trx, byCaller(caller), {
    organizationId: org.id,
    type,
    subject: { type: 'Suite', uuid: suite.id, name: suite.name },
    data: { team_id: teamId, suite_id: suite.id, ...(level === undefined ? {} : { access_level: level }) },
  })
