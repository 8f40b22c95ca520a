import type { Static } from 'typebox'
import { pipelineUrl } from '../pipelines/present.ts'
import type { TeamPipelineRow } from './queries.ts'
import type { TeamPipeline } from './schema.ts'

export const presentTeamPipeline = (
  url: string,
  orgSlug: string,
  row: TeamPipelineRow,
): Static<typeof TeamPipeline> => ({
  pipeline_id: row.pipeline_id,
  pipeline_url: pipelineUrl(url, orgSlug, row.pipeline_slug),
  access_level: row.access_level,
  created_at: row.created_at,
})
