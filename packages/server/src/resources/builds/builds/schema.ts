import { BUILD_STATES } from '@millrace/engine/states.ts'
import { Type, type Static } from 'typebox'
import { Job } from '../../job/schema.ts'
import { Pipeline } from '../../pipelines/pipelines/schema.ts'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { TestRun } from '../../tests/test_runs/schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const Text = Type.String()
const TextOrNull = orNull(Text)
const TimestampOrNull = orNull(Timestamp)
const Texts = Type.Record(Text, Text)

/** A blocked build shows what its block counts as; `creating` lasts no longer than the transaction. */
const BuildState = Type.Union(
  BUILD_STATES.filter((state) => state !== 'blocked' && state !== 'creating').map((state) =>
    Type.Literal(state),
  ),
)

/** Values of the `state` filter. The query explains those that are no states of builds; others match nothing. */
export const stateFilters = [...BUILD_STATES, 'waiting', 'waiting_failed', 'finished'] as const

const Source = Type.Union(
  ['webhook', 'api', 'ui', 'trigger_job', 'schedule'].map((source) => Type.Literal(source)),
)

const TestRuns = Type.Object({ runs: Type.Array(TestRun, { description: 'The first 100.' }) })

export const Build = Type.Object(
  {
    id: Uuid,
    graphql_id: Text,
    url: Text,
    web_url: Text,
    number: Type.Integer(),
    state: BuildState,
    blocked: Type.Boolean({ description: 'Whether it waits for somebody to release a block step.' }),
    blocked_state: Type.String({
      description: 'While blocked, what the build counts as: `passed`, `failed` or `running`; else empty.',
    }),
    cancel_reason: TextOrNull,
    message: TextOrNull,
    commit: Text,
    branch: Text,
    tag: TextOrNull,
    env: Texts,
    source: Source,
    author: orNull(Type.Object({ name: TextOrNull, email: TextOrNull })),
    creator: UserOrNull,
    created_at: Timestamp,
    scheduled_at: Timestamp,
    started_at: TimestampOrNull,
    failing_at: TimestampOrNull,
    finished_at: TimestampOrNull,
    meta_data: Texts,
    pull_request: orNull(Type.Object({ id: Text, base: TextOrNull, repository: TextOrNull })),
    merge_queue: orNull(Type.Object({ base_branch: Text })),
    rebuilt_from: orNull(Type.Object({ id: Uuid, number: Type.Integer(), url: Text })),
    triggered_from: orNull(
      Type.Object({ build_id: Uuid, build_number: Type.Integer(), build_pipeline_slug: Text }),
    ),
    archived_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Get only, for an archived build: when it was archived. Everything else is as it was then.',
      }),
    ),
    jobs: Type.Optional(Type.Array(Job)),
    pipeline: Type.Optional(Pipeline),
    job_state_counts: Type.Optional(
      Type.Object(
        { total: Type.Integer(), states: Type.Record(Text, Type.Integer()) },
        { description: 'Get only: how many jobs there are in which state, shown or not.' },
      ),
    ),
    test_analytics: Type.Optional(TestRuns),
    test_engine: Type.Optional(TestRuns),
    retried_jobs_count: Type.Optional(
      Type.Integer({ description: 'Retry failed jobs only: how many were retried.' }),
    ),
  },
  { title: 'Build' },
)

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const Time = (description: string) => Type.Optional(Type.String({ description }))

const ShownParts = {
  exclude_jobs: Flag('Leave out the jobs.'),
  exclude_pipeline: Flag('Leave out the pipeline.'),
  include_retried_jobs: Flag('Show every run of a job, not only the latest.'),
}

export const BuildQuery = {
  branch: Type.Optional(
    Type.Array(Text, { description: 'One or several branches; `*` stands for any characters.' }),
  ),
  commit: Type.Optional(Type.Array(Text, { description: 'One or several commits, each in full.' })),
  state: Type.Optional(
    Type.Array(Text, {
      description: `One or several of ${stateFilters.join(', ')}. finished: passed, failed, blocked or canceled.`,
    }),
  ),
  created_from: Time('Created at this ISO 8601 time or later.'),
  created_to: Time('Created before this ISO 8601 time.'),
  finished_from: Time('Finished at this ISO 8601 time or later.'),
  creator: Type.Optional(Type.String({ description: 'The id of the user who created it.' })),
  meta_data: Type.Optional(
    Type.Record(Text, Text, { description: '`meta_data[key]=value`; of several, all must hold.' }),
  ),
  include_paused: Flag('Default true. When false, what lies on paused queues is left out.'),
  ...ShownParts,
  after: Type.Optional(
    Type.String({ description: 'From a `next-cursor` link: instead of `page`, and without its limit.' }),
  ),
}

export const GetBuildQuery = {
  ...ShownParts,
  job_states: Type.Optional(Type.Array(Text, { description: 'Show only jobs in these states.' })),
  include_test_analytics: Flag('Add `test_analytics`.'),
  include_test_engine: Flag('Add the same as `test_engine`.'),
}

const optional = <T extends Parameters<typeof orNull>[0]>(schema: T) => Type.Optional(orNull(schema))

const Named = { minLength: 1, maxLength: 500, pattern: '\\S', description: 'must not be blank' }
const Value = Type.Union([Text, Type.Number(), Type.Boolean()])
const Person = Type.String({ maxLength: 500 })

export const CreateBuild = Type.Object(
  {
    commit: Type.String({ ...Named, examples: ['HEAD'] }),
    branch: Type.String({ ...Named, examples: ['main'] }),
    author: optional(Type.Object({ name: optional(Person), email: optional(Person) })),
    clean_checkout: optional(Type.Boolean()),
    env: optional(Type.Record(Text, Value)),
    ignore_pipeline_branch_filters: optional(Type.Boolean()),
    message: optional(Type.String({ maxLength: 65_536 })),
    meta_data: optional(Type.Record(Text, Value)),
    pull_request_base_branch: optional(Type.String({ maxLength: 500 })),
    pull_request_id: optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    pull_request_labels: optional(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 })),
    pull_request_repository: optional(Type.String({ maxLength: 2000 })),
  },
  {
    title: 'CreateBuild',
    examples: [{ commit: 'HEAD', branch: 'main', message: 'Release', env: { TARGET: 'staging' } }],
  },
)

export const CancelBuild = Type.Object(
  { reason: optional(Type.String({ maxLength: 1000, description: 'Becomes `cancel_reason`.' })) },
  { title: 'CancelBuild', examples: [{ reason: 'Superseded by a hotfix' }] },
)

export const RetryFailedJobs = Type.Object(
  {
    states: optional(
      Type.String({
        description:
          'Which, separated by commas: canceled, expired, failed, soft_failed, timed_out. Default: all.',
      }),
    ),
  },
  { title: 'RetryFailedJobs', examples: [{ states: 'failed,timed_out' }] },
)

export type CreateBuildBody = Static<typeof CreateBuild>
export type ListQuery = { [Name in keyof typeof BuildQuery]?: Static<(typeof BuildQuery)[Name]> }
