// Steps that a job adds to its own build.
import { Type, type Static } from 'typebox'
import { maybe } from './maybe.ts'

export const PipelineUploadRequest = Type.Object({
  /** The same on every repetition: an upload is applied once. */
  uuid: Type.String({ format: 'uuid', description: 'must be a UUID' }),
  /** An `UploadedPipeline`; the pipeline reader checks it. */
  pipeline: Type.Unknown(),
  /** Delete every step that has not started first. */
  replace: maybe(Type.Boolean()),
})
export type PipelineUploadRequest = Static<typeof PipelineUploadRequest>

/** Variables are filled in and `if_changed` is decided already. */
export interface UploadedPipeline {
  steps: unknown[]
  env?: Record<string, string>
  [key: string]: unknown
}

export const PipelineUploadStatusResponse = Type.Object({
  state: Type.Union([
    Type.Literal('pending'),
    Type.Literal('processing'),
    Type.Literal('applied'),
    Type.Literal('rejected'),
    Type.Literal('failed'),
  ]),
  message: Type.String(),
})
export type PipelineUploadStatusResponse = Static<typeof PipelineUploadStatusResponse>
