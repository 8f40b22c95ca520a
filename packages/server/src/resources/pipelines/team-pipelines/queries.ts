import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Db, Trx } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import type { AccessLevel } from '../pipelines/schema.ts'

export interface TeamPipelineRow {
  pipeline_id: string
  pipeline_slug: string
  pipeline_name: string
  access_level: AccessLevel
  created_at: string
}

const select = sql`
  select tp.pipeline_id, p.slug as pipeline_slug, p.name as pipeline_name, tp.access_level, tp.created_at
  from team_pipelines tp join pipelines p on p.id = tp.pipeline_id`

/** The team's pipelines that the caller may see. */
export async function listInTeam(
  db: Db,
  org: Organization,
  caller: Caller,
  teamId: string,
  page: { limit: number; offset: number },
): Promise<TeamPipelineRow[]> {
  const { rows } = await sql<TeamPipelineRow>`${select}
    where tp.organization_id = ${org.id} and tp.team_id = ${teamId} and ${visiblePipelines(org, caller)}
    order by tp.created_at, tp.pipeline_id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

export async function getInTeam(
  db: Db,
  org: Organization,
  caller: Caller,
  teamId: string,
  pipelineId: string,
): Promise<TeamPipelineRow> {
  const { rows } = await sql<TeamPipelineRow>`${select}
    where tp.organization_id = ${org.id} and tp.team_id = ${teamId} and tp.pipeline_id = ${pipelineId}
      and ${visiblePipelines(org, caller)}`.execute(db)
  const [row] = rows
  if (row === undefined) throw notFound('No team pipeline found')
  return row
}

export interface PipelineTeamRow {
  team_id: string
  team_name: string
  team_slug: string
  access_level: AccessLevel
  created_at: string
}

/** The teams that have the pipeline and that the caller may see. */
export async function listOfPipeline(
  db: Db,
  org: Organization,
  caller: Caller,
  pipelineId: string,
  page: { limit: number; offset: number },
): Promise<PipelineTeamRow[]> {
  const { rows } = await sql<PipelineTeamRow>`
    select t.id as team_id, t.name as team_name, t.slug as team_slug, tp.access_level, tp.created_at
    from team_pipelines tp join teams t on t.id = tp.team_id
    where tp.organization_id = ${org.id} and t.organization_id = ${org.id} and tp.pipeline_id = ${pipelineId}
      and ${teamIsVisible(org, caller)}
    order by tp.created_at, t.id limit ${page.limit} offset ${page.offset}`.execute(db)
  return rows
}

/** The ids of the teams that have the pipeline. */
export async function listTeamIds(db: Db, orgId: string, pipelineId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select team_id as id from team_pipelines
    where organization_id = ${orgId} and pipeline_id = ${pipelineId}`.execute(db)
  return rows.map(({ id }) => id)
}

export interface HeldTeam {
  id: string
  /** Whether the caller is in it and it lets its members create pipelines. */
  lets_create: boolean
}

/** The given teams that the caller may see. Until the transaction ends, no other transaction deletes them. */
export async function holdTeams(
  trx: Trx,
  org: Organization,
  caller: Caller,
  ids: readonly string[],
): Promise<HeldTeam[]> {
  const { rows } = await sql<HeldTeam>`
    select t.id, t.members_can_create_pipelines and exists (
        select from team_members m where m.team_id = t.id and m.user_id = ${caller.user.id}) as lets_create
    from teams t
    where t.organization_id = ${org.id} and t.id = any (${ids}::uuid[]) and ${teamIsVisible(org, caller)}
    order by t.id for key share of t`.execute(trx)
  return rows
}

/** Whether one of the caller's teams lets its members create pipelines. */
export async function mayCreate(db: Db, org: Organization, caller: Caller): Promise<boolean> {
  const { rows } = await sql`
    select from team_members m join teams t on t.id = m.team_id
    where m.organization_id = ${org.id} and m.user_id = ${caller.user.id} and t.members_can_create_pipelines
    limit 1`.execute(db)
  return rows.length > 0
}

/** False when the team has the pipeline already. */
export async function insert(
  trx: Trx,
  row: { organization_id: string; team_id: string; pipeline_id: string; access_level: AccessLevel },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('team_pipelines')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}

/** False when there is no such row, or it has the level already. */
export async function updateLevel(
  trx: Trx,
  orgId: string,
  teamId: string,
  pipelineId: string,
  level: AccessLevel,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('team_pipelines')
    .set({ access_level: level })
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('pipeline_id', '=', pipelineId)
    .where('access_level', '!=', level)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** False when there is no such row. */
export async function deleteInTeam(
  trx: Trx,
  orgId: string,
  teamId: string,
  pipelineId: string,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('team_pipelines')
    .where('organization_id', '=', orgId)
    .where('team_id', '=', teamId)
    .where('pipeline_id', '=', pipelineId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}
