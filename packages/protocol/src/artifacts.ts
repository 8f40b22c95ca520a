// Files of a job: announced in batches, sent to where the answer says, then reported as done.
import { Type, type Static } from 'typebox'
import { maybe, unread } from './maybe.ts'

const hex = (length: number) =>
  Type.String({ pattern: `^[0-9a-fA-F]{${length}}$`, description: `must be ${length} hexadecimal digits` })

export const ArtifactFile = Type.Object({
  path: Type.String(),
  absolute_path: maybe(Type.String({ maxLength: 8192 })),
  file_size: Type.Integer({ minimum: 0, maximum: 2 ** 50 }),
  sha1sum: hex(40),
  sha256sum: maybe(Type.Union([hex(64), Type.Literal('')])),
  content_type: maybe(Type.String({ maxLength: 255 })),
  /** Where the file will be, when the server does not keep it. */
  url: maybe(Type.String({ maxLength: 8192 })),
})
export type ArtifactFile = Static<typeof ArtifactFile>

export const ArtifactBatchRequest = Type.Object({
  /** The same on every repetition of the same batch. */
  id: Type.String({ format: 'uuid', description: 'must be a UUID' }),
  /** Empty: the server keeps the files. */
  upload_destination: maybe(Type.String({ maxLength: 2048 })),
  multipart_supported: maybe(Type.Boolean()),
  artifacts: Type.Array(ArtifactFile, { maxItems: 500 }),
})
export type ArtifactBatchRequest = Static<typeof ArtifactBatchRequest>

export const UploadInstructions = Type.Object({
  /** Fields of the form; `${artifact:path}` inside a value stands for the path. */
  data: Type.Optional(Type.Record(Type.String(), Type.String())),
  action: Type.Optional(
    Type.Object({
      url: Type.String(),
      method: Type.String(),
      /** Takes the place of the path in `url`. */
      path: Type.String(),
      file_input: Type.String(),
    }),
  ),
  /** One request per part; they win over the form. */
  actions: Type.Optional(
    Type.Array(Type.Object({ url: Type.String(), method: Type.String(), part_number: Type.Integer() })),
  ),
})
export type UploadInstructions = Static<typeof UploadInstructions>
export type UploadForm = NonNullable<UploadInstructions['action']>

export const ArtifactBatchResponse = Type.Object({
  id: Type.String(),
  /** As many as the request has artifacts, in the same order. */
  artifact_ids: Type.Array(Type.String()),
  upload_instructions: Type.Optional(UploadInstructions),
  per_artifact_instructions: Type.Optional(Type.Record(Type.String(), UploadInstructions)),
})
export type ArtifactBatchResponse = Static<typeof ArtifactBatchResponse>

export const ArtifactStateEntry = Type.Object({
  id: Type.String({ format: 'uuid', description: 'must be a UUID' }),
  state: Type.Union([Type.Literal('finished'), Type.Literal('error')]),
  /** True only with two parts or more. */
  multipart: unread,
  multipart_etags: maybe(
    Type.Array(
      Type.Object({ part_number: Type.Integer({ minimum: 1, maximum: 10_000 }), etag: Type.String() }),
      { maxItems: 10_000 },
    ),
  ),
})
export type ArtifactStateEntry = Static<typeof ArtifactStateEntry>

export const ArtifactStatesRequest = Type.Object({
  artifacts: Type.Array(ArtifactStateEntry, { maxItems: 500 }),
})
export type ArtifactStatesRequest = Static<typeof ArtifactStatesRequest>

export const ArtifactSearchQuery = Type.Object({
  query: Type.String(),
  /** Key or label of a step, or the id of a job. */
  scope: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  include_retried_jobs: Type.Optional(Type.String()),
  include_duplicates: Type.Optional(Type.String()),
})
export type ArtifactSearchQuery = Static<typeof ArtifactSearchQuery>

export const FoundArtifact = Type.Object({
  id: Type.String(),
  path: Type.String(),
  absolute_path: Type.String(),
  file_size: Type.Integer(),
  sha1sum: Type.String(),
  sha256sum: Type.String(),
  job_id: Type.String(),
  created_at: maybe(Type.String()),
  /** Absolute, and enough by itself to read the file. */
  url: Type.String(),
  upload_destination: Type.Optional(Type.String()),
  content_type: Type.Optional(Type.String()),
})
export type FoundArtifact = Static<typeof FoundArtifact>
