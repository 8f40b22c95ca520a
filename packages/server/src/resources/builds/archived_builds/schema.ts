import { Type } from 'typebox'
import { Build } from '../builds/schema.ts'
import { GraphStep } from '../graph/schema.ts'
import { CursorLinks, orNull, Timestamp, Uuid } from '../../schema.ts'

const Text = Type.String()
const TextOrNull = orNull(Text)

export const ArchivedBuild = Type.Object(
  {
    id: Uuid,
    url: Text,
    build_url: Type.String({ description: 'Where the build was, and is still answered.' }),
    number: Type.Integer(),
    state: Text,
    message: orNull(Type.String({ description: 'The first 1,000 characters.' })),
    commit: Text,
    branch: Text,
    created_at: Timestamp,
    finished_at: Timestamp,
    archived_at: Timestamp,
    jobs_count: Type.Integer({ description: 'How many jobs it had, with those that were retried.' }),
    logs_count: Type.Integer({ description: 'How many of their logs are kept.' }),
    size: Type.Integer({ description: 'Bytes of the archive in the blob store, without logs.' }),
  },
  { title: 'ArchivedBuild' },
)

export const ArchivedBuildList = Type.Object(
  { items: Type.Array(ArchivedBuild), links: CursorLinks },
  { title: 'ArchivedBuildList' },
)

const ArchivedAnnotation = Type.Object({
  id: Uuid,
  context: Text,
  style: TextOrNull,
  scope: Text,
  job_id: orNull(Uuid),
  priority: Type.Integer(),
  body: Type.String({ description: 'As it was written, in Markdown.' }),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const ArchivedArtifact = Type.Object({
  id: Uuid,
  job_id: Uuid,
  state: Type.String({
    description: '`finished`: its file was deleted with the build, unless it has an `external_url`.',
  }),
  path: Text,
  mime_type: Text,
  file_size: Type.Integer(),
  sha1sum: Text,
  sha256sum: orNull(Type.String({ description: 'SHA-256 of the file, in hex.' })),
  external_url: orNull(Type.String({ description: 'Where a file in a store of your own lies.' })),
})

const ArchivedLog = Type.Object({
  job_id: Uuid,
  size: Type.Integer({ description: 'In bytes.' }),
  deleted: Type.Boolean({ description: 'Whether it was deleted before its build was archived.' }),
  url: Type.String({ description: 'Where it is read as long as it is kept.' }),
})

const ArchivedStepUpload = Type.Object({
  uuid: Uuid,
  state: Text,
  source_job_id: Uuid,
  replace_existing_steps: Type.Boolean(),
  rejection_type: TextOrNull,
  message: TextOrNull,
  definition_yaml: TextOrNull,
  created_at: Timestamp,
})

const ArchivedTestRun = Type.Object({
  id: Uuid,
  suite_slug: Type.String({ description: 'Name of the suite in URLs.' }),
  branch: TextOrNull,
  commit_sha: TextOrNull,
  passed_count: Type.Integer(),
  failed_count: Type.Integer(),
  skipped_count: Type.Integer(),
  unknown_count: Type.Integer(),
  duration: Type.Number(),
  created_at: Timestamp,
  failures: Type.Array(
    Type.Object({
      scope: Text,
      name: Text,
      location: TextOrNull,
      file_name: TextOrNull,
      failure_reason: TextOrNull,
      duration: orNull(Type.Number()),
    }),
    { description: 'The first 200 failed tests.' },
  ),
})

export const ArchivedBuildDocument = Type.Object(
  {
    archived_at: Timestamp,
    version: Type.Integer({ description: 'The format of this document.' }),
    build: Build,
    steps: Type.Array(GraphStep),
    edges: Type.Array(Type.Array(Uuid)),
    annotations: Type.Array(ArchivedAnnotation),
    artifacts: Type.Array(ArchivedArtifact),
    logs: Type.Array(ArchivedLog),
    step_uploads: Type.Array(ArchivedStepUpload),
    test_runs: Type.Array(ArchivedTestRun),
  },
  { title: 'ArchivedBuildDocument' },
)
