import type { Static } from 'typebox'
import { dirnameOf, filenameOf } from './rules.ts'
import type { ArtifactRow } from './queries.ts'
import type { Artifact } from './schema.ts'

/** `buildUrl` is the API's address of the build, however the artifact was asked for. */
export function presentArtifact(row: ArtifactRow, buildUrl: string): Static<typeof Artifact> {
  const url = `${buildUrl}/jobs/${row.job_id}/artifacts/${row.id}`
  return {
    id: row.id,
    job_id: row.job_id,
    url,
    download_url: `${url}/download`,
    state: row.state,
    path: row.path,
    dirname: dirnameOf(row.path),
    filename: filenameOf(row.path),
    mime_type: row.mime_type,
    file_size: row.file_size,
    sha1sum: row.sha1sum,
    glob_path: null,
    original_path: null,
  }
}

export const buildUrl = (
  base: string,
  orgSlug: string,
  pipelineSlug: string,
  buildNumber: number | string,
): string => `${base}/v2/organizations/${orgSlug}/pipelines/${pipelineSlug}/builds/${buildNumber}`
