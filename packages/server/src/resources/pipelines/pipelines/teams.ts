import type { Caller, Organization } from '../../../auth/caller.ts'
import { hasFullAccess, mayCreatePipelines } from '../../../auth/pipeline-access.ts'
import type { Trx } from '../../../db/pool.ts'
import { forbidden, invalidFields } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import * as teamAccess from '../team-access/queries.ts'
import type { AccessLevel } from '../team-access/schema.ts'
import type { UpdatePipelineBody } from './schema.ts'

/** Where teams grant access, a member must give a new pipeline to a team that lets them create pipelines. */
export async function teamsOfNew(
  trx: Trx,
  org: Organization,
  caller: Caller,
  body: UpdatePipelineBody,
): Promise<Map<string, AccessLevel>> {
  if (!(await mayCreatePipelines(trx, org, caller))) throw forbidden()
  const { levels, found } = await readTeams(trx, org, caller, body)
  if (hasFullAccess(org) || found.some(({ lets_create }) => lets_create)) return levels
  const code = 'must name a team of yours that lets its members create pipelines'
  throw invalidFields([{ field: 'teams', code }])
}

/** Null when the body names no teams. */
export async function teamsOfUpdate(
  trx: Trx,
  org: Organization,
  caller: Caller,
  body: UpdatePipelineBody,
): Promise<Map<string, AccessLevel> | null> {
  if (!body.teams && !body.team_uuids) return null
  return (await readTeams(trx, org, caller, body)).levels
}

async function readTeams(
  trx: Trx,
  org: Organization,
  caller: Caller,
  { teams, team_uuids }: UpdatePipelineBody,
): Promise<{ levels: Map<string, AccessLevel>; found: teamAccess.HeldTeam[] }> {
  const field = teams ? 'teams' : 'team_uuids'
  const given: ReadonlyArray<readonly [string, AccessLevel]> = teams
    ? Object.entries(teams)
    : (team_uuids ?? []).map((id) => [id, 'manage_build_and_read'])
  const levels = new Map(given.map(([id, level]) => [id.toLowerCase(), level]))
  const ids = [...levels.keys()]
  const found = await teamAccess.holdTeams(trx, org, caller, ids.filter(isUuid))
  const missing = ids.find((id) => !found.some((team) => team.id === id))
  if (missing === undefined) return { levels, found }
  throw invalidFields([
    { field, code: `has "${missing.slice(0, 60)}", which is no team of this organization` },
  ])
}
