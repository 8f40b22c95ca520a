import { Type } from 'typebox'
import { Build } from '../builds/schema.ts'
import { GraphStep } from '../graph/schema.ts'
import {
  boolean,
  cursorList,
  described,
  integer,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
  uuid,
} from '../../schema.ts'

const Text = Type.String()
const TextOrNull = orNull(Text)

const ArchivedAt = timestamp('When the build was archived.')

export const ArchivedBuild = Type.Object(
  {
    id: Uuid,
    url: Text,
    build_url: text('Where the build was, and is still answered.'),
    number: integer('Number of the build within its pipeline.'),
    state: text('The state in which the build ended.'),
    message: orNull(text('The first 1,000 characters.')),
    commit: Text,
    branch: Text,
    created_at: Timestamp,
    finished_at: Timestamp,
    archived_at: ArchivedAt,
    jobs_count: integer('How many jobs it had, with those that were retried.'),
    logs_count: integer('How many of their logs are kept.'),
    size: integer('Bytes of the archive in the blob store, without logs.'),
  },
  { title: 'ArchivedBuild' },
)

export const PipelineArchive = Type.Object(
  {
    pipeline_id: Uuid,
    pipeline_slug: text('Slug of the pipeline.'),
    pipeline_name: text('Name of the pipeline.'),
    archived_builds_url: text('Address of its archived builds in the API.'),
    builds_count: integer('How many of its builds are archived.'),
    logs_count: integer('How many of their logs are kept.'),
    size: integer('Bytes of the archives in the blob store, without logs.'),
    oldest_created_at: timestamp('When the oldest of them was created.'),
    newest_created_at: timestamp('When the newest of them was created.'),
  },
  { title: 'PipelineArchive' },
)

export const ArchivedBuildList = cursorList(ArchivedBuild, 'ArchivedBuildList')

const ArchivedAnnotation = Type.Object({
  id: Uuid,
  context: text('What tells it from the other annotations of the build or job.'),
  style: orNull(text('How the annotation is shown; null: plainly.')),
  scope: text('Whether it belonged to the whole build or to one job.'),
  job_id: orNull(Uuid),
  priority: integer('Jobs with higher numbers are handed out first.'),
  body: text('As it was written, in Markdown.'),
  created_at: Timestamp,
  updated_at: Timestamp,
})

const ArchivedArtifact = Type.Object({
  id: Uuid,
  job_id: Uuid,
  state: text('`finished`: its file was deleted with the build, unless it has an `external_url`.'),
  path: text('Path of the file, as it was uploaded.'),
  mime_type: text('Media type of the file.'),
  file_size: integer('Size of the file in bytes.'),
  sha1sum: text('SHA-1 of the file, in hex.'),
  sha256sum: orNull(text('SHA-256 of the file, in hex.')),
  external_url: orNull(text('Where a file in a store of your own lies.')),
})

const ArchivedLog = Type.Object({
  job_id: Uuid,
  size: integer('In bytes.'),
  deleted: boolean('Whether it was deleted before its build was archived.'),
  url: text('Where it is read as long as it is kept.'),
})

const ArchivedStepUpload = Type.Object({
  uuid: Uuid,
  state: text('What became of the upload.'),
  source_job_id: uuid('UUID of the job that uploaded the steps.'),
  replace_existing_steps: boolean('Whether the upload replaced the steps that had not started.'),
  rejection_type: orNull(text('Why it was rejected, for programs.')),
  message: TextOrNull,
  definition_yaml: orNull(text('The uploaded text; null when it was not kept.')),
  created_at: Timestamp,
})

const ArchivedTestRun = Type.Object({
  id: Uuid,
  suite_slug: text('Name of the suite in URLs.'),
  branch: TextOrNull,
  commit_sha: orNull(text('Commit that was tested; null when the sender did not say.')),
  passed_count: integer('How many tests passed.'),
  failed_count: integer('How many tests failed.'),
  skipped_count: integer('How many tests were skipped.'),
  unknown_count: integer('How many tests have no known result.'),
  duration: Type.Number({ description: 'Seconds that it took.' }),
  created_at: Timestamp,
  failures: Type.Array(
    Type.Object({
      scope: text('Group of the test.'),
      name: Text,
      location: orNull(text('Where the test is defined; null when the sender did not say.')),
      file_name: orNull(text('File that the test is in; null when the sender did not say.')),
      failure_reason: orNull(text('First line of why the test failed; null when it is not known.')),
      duration: orNull(Type.Number(), 'Seconds that it took.'),
    }),
    { description: 'The first 200 failed tests.' },
  ),
})

export const ArchivedBuildDocument = Type.Object(
  {
    archived_at: ArchivedAt,
    logs_count: integer('How many of its logs are still kept.'),
    version: integer('The format of this document.'),
    build: described(Build, 'What the triggered build is made with.'),
    steps: Type.Array(GraphStep, { description: 'The steps of the pipeline.' }),
    edges: Type.Array(Type.Array(Uuid), {
      description: 'Pairs of step ids: the second waited for the first.',
    }),
    annotations: Type.Array(ArchivedAnnotation, {
      description: 'Its annotations, the most important first.',
    }),
    artifacts: Type.Array(ArchivedArtifact, {
      description: 'Its artifacts, oldest first, without their files.',
    }),
    logs: Type.Array(ArchivedLog, { description: 'The logs of its jobs.' }),
    step_uploads: Type.Array(ArchivedStepUpload, {
      description: 'Steps that its jobs uploaded, oldest first.',
    }),
    test_runs: Type.Array(ArchivedTestRun, { description: 'Its test runs, oldest first.' }),
  },
  { title: 'ArchivedBuildDocument' },
)
