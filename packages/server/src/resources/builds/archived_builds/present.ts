import type { Static } from 'typebox'
import { pipelineUrl } from '../../pipelines/pipelines/present.ts'
import type { ArchivedBuildRow, PipelineArchiveRow } from '../archives/queries.ts'
import type { ArchivedBuild, PipelineArchive } from './schema.ts'

export function presentArchivedBuild(
  url: string,
  orgSlug: string,
  row: ArchivedBuildRow,
): Static<typeof ArchivedBuild> {
  const pipeline = pipelineUrl(url, orgSlug, row.pipeline_slug)
  return {
    id: row.id,
    url: `${pipeline}/archived_builds/${row.number}`,
    build_url: `${pipeline}/builds/${row.number}`,
    number: row.number,
    state: row.state,
    message: row.message,
    commit: row.commit,
    branch: row.branch,
    created_at: row.created_at,
    finished_at: row.finished_at,
    archived_at: row.archived_at,
    jobs_count: row.jobs,
    logs_count: row.logs,
    size: row.size,
  }
}

export const presentPipelineArchive = (
  url: string,
  orgSlug: string,
  row: PipelineArchiveRow,
): Static<typeof PipelineArchive> => ({
  pipeline_id: row.id,
  pipeline_slug: row.slug,
  pipeline_name: row.name,
  archived_builds_url: `${pipelineUrl(url, orgSlug, row.slug)}/archived_builds`,
  builds_count: row.builds,
  logs_count: row.logs,
  size: row.size,
  oldest_created_at: row.oldest,
  newest_created_at: row.newest,
})
