// Steps that a job adds to its own build.

export interface PipelineUploadRequest {
  /** The same on every repetition: an upload is applied once. */
  uuid: string
  /** Variables are filled in and `if_changed` is decided already. */
  pipeline: UploadedPipeline
  /** Drop every step that has not started first. */
  replace?: boolean
}

export interface UploadedPipeline {
  steps: unknown[]
  env?: Record<string, string>
  [key: string]: unknown
}

export type PipelineUploadState = 'pending' | 'processing' | 'applied' | 'rejected' | 'failed'

export interface PipelineUploadStatusResponse {
  state: PipelineUploadState
  message: string
}
