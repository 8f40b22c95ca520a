import { graphqlId } from '../../../lib/ids.ts'
import type { ListedStepUploadRow, StepUploadRow } from './queries.ts'

/** `buildUrl` is the address of the build in the API. */
export const presentListed = (buildUrl: string, upload: ListedStepUploadRow) => ({
  uuid: upload.id,
  graphql_id: graphqlId('StepUpload', upload.id),
  state: upload.state,
  source: upload.source,
  source_job_id: upload.source_job_id,
  replace_existing_steps: upload.replace_existing_steps,
  created_jobs_count: upload.created_jobs_count,
  rejection_type: upload.rejection_type,
  message: upload.message,
  url: `${buildUrl}/step-uploads/${upload.id}`,
  created_at: upload.created_at,
  processed_at: upload.processed_at,
})

export function presentStepUpload(buildUrl: string, upload: StepUploadRow) {
  // Text that cannot be stored is stored as empty; an upload itself is never empty.
  const isOmitted = upload.definition_yaml === ''
  return {
    ...presentListed(buildUrl, upload),
    definition_bytes: Buffer.byteLength(upload.definition_yaml),
    definition_yaml: isOmitted ? null : upload.definition_yaml,
    definition_yaml_omitted: isOmitted,
  }
}
