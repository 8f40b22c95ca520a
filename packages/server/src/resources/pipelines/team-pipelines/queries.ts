import { sql } from 'kysely'
import type { Caller, Organization } from '../../../auth/caller.ts'
import { visiblePipelines } from '../../../auth/pipeline-access.ts'
import { teamIsVisible } from '../../../auth/permissions.ts'
import type { Db } from '../../../db/pool.ts'
import { notFound } from '../../../lib/errors.ts'
import type { AccessLevel } from '../team-access/schema.ts'

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
