// Files of a job: announced in batches, sent to where the answer says, then reported as done.

export interface ArtifactBatchRequest {
  /** The same on every repetition of the same batch. */
  id: string
  /** Empty: the server keeps the files. */
  upload_destination: string
  multipart_supported?: boolean
  artifacts: ArtifactFile[]
}

export interface ArtifactFile {
  path: string
  absolute_path: string
  file_size: number
  sha1sum: string
  sha256sum: string
  content_type: string
  /** Where the file will be, when the server does not keep it. */
  url?: string
  upload_destination?: string
  id?: string
  job_id?: string
  glob_path?: string
  created_at?: string
}

export interface ArtifactBatchResponse {
  id: string
  /** As many as the request has artifacts, in the same order. */
  artifact_ids: string[]
  upload_instructions?: UploadInstructions
  per_artifact_instructions?: Record<string, UploadInstructions>
}

export interface UploadInstructions {
  /** Fields of the form; `${artifact:path}` inside a value stands for the path. */
  data?: Record<string, string>
  action?: UploadForm
  /** One request per part; they win over the form. */
  actions?: UploadPart[]
}

export interface UploadForm {
  url: string
  method: string
  /** Takes the place of the path in `url`. */
  path: string
  file_input: string
}

export interface UploadPart {
  url: string
  method: string
  part_number: number
}

export type ArtifactUploadState = 'finished' | 'error'

export interface ArtifactStatesRequest {
  artifacts: ArtifactStateEntry[]
}

export interface ArtifactStateEntry {
  id: string
  state: ArtifactUploadState
  /** True only with two parts or more. */
  multipart?: boolean
  multipart_etags?: Array<{ part_number: number; etag: string }>
}

export interface ArtifactSearchQuery {
  query: string
  /** Key or label of a step, or the id of a job. */
  scope?: string
  state?: string
  include_retried_jobs?: string
  include_duplicates?: string
}

export interface FoundArtifact {
  id: string
  path: string
  absolute_path: string
  file_size: number
  sha1sum: string
  sha256sum: string
  job_id: string
  created_at?: string | null
  /** Absolute, and enough by itself to read the file. */
  url: string
  upload_destination?: string
  content_type?: string
}
