import type { Static } from 'typebox'
import { pipelineUrl } from '../pipelines/present.ts'
import { graphqlId } from '../../../lib/ids.ts'
import type { PipelineTeamRow, TeamPipelineRow } from './queries.ts'
import type { PipelineTeam, TeamPipeline } from './schema.ts'

export const presentTeamPipeline = (
  url: string,
  orgSlug: string,
  row: TeamPipelineRow,
): Static<typeof TeamPipeline> => ({
  pipeline_id: row.pipeline_id,
  pipeline_url: pipelineUrl(url, orgSlug, row.pipeline_slug),
  pipeline_name: row.pipeline_name,
  pipeline_slug: row.pipeline_slug,
  access_level: row.access_level,
  created_at: row.created_at,
})

export const presentPipelineTeam = (row: PipelineTeamRow): Static<typeof PipelineTeam> => ({
  team: {
    id: row.team_id,
    graphql_id: graphqlId('Team', row.team_id),
    name: row.team_name,
    slug: row.team_slug,
  },
  access_level: row.access_level,
  created_at: row.created_at,
})
