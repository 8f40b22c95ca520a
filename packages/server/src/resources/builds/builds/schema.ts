import { BUILD_STATES } from '@millrace/engine/states.ts'
import { Type, type Static } from 'typebox'
import { Job } from '../../job/schema.ts'
import { Pipeline } from '../../pipelines/pipelines/schema.ts'
import {
  boolean,
  described,
  integer,
  oneOf,
  optional,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
  uuid,
} from '../../schema.ts'
import { TestRun } from '../../tests/test_runs/schema.ts'
import { User } from '../../people/user/schema.ts'

const Text = Type.String()
const TextOrNull = orNull(Text)
const TimestampOrNull = orNull(Timestamp)
const Texts = Type.Record(Text, Text)

/** A blocked build shows what its block counts as; `creating` lasts no longer than the transaction. */
const BuildState = Type.Union(
  BUILD_STATES.filter((state) => state !== 'blocked' && state !== 'creating').map((state) =>
    Type.Literal(state),
  ),
  { description: 'State of the build. A blocked one shows what the block counts as, and sets `blocked`.' },
)

/** Values of the `state` filter. The query explains those that are no states of builds; others match nothing. */
export const stateFilters = [...BUILD_STATES, 'waiting', 'waiting_failed', 'finished'] as const

const Source = oneOf(['webhook', 'api', 'ui', 'trigger_job', 'schedule'], 'What started it.')

const TestRuns = Type.Object({ runs: Type.Array(TestRun, { description: 'The first 100.' }) })

export const Build = Type.Object(
  {
    id: uuid('UUID of the build.'),
    graphql_id: Text,
    url: Text,
    web_url: Text,
    number: integer('Number of the build within its pipeline; gaps are possible.'),
    state: BuildState,
    blocked: boolean('Whether it waits for somebody to release a block step.'),
    blocked_state: text(
      'While blocked, what the build counts as: `passed`, `failed` or `running`; else empty.',
    ),
    cancel_reason: orNull(
      text('The reason given at cancellation; null unless the build was canceled with one.'),
    ),
    message: TextOrNull,
    commit: Text,
    branch: Text,
    tag: orNull(text('Tag; null when there is none.')),
    env: Texts,
    source: Source,
    found_by: Type.Optional(
      oneOf(
        ['webhook', 'hook', 'poll', 'reconcile', 'trigger'],
        'Only of a build that a push or another event made: how it was heard of. A `webhook` of the host, a post-receive `hook`, a `poll`, a `reconcile` that found a push whose webhook never came, or a `trigger` of the pipeline.',
      ),
    ),
    trigger_name: Type.Optional(text('Only of a build that a trigger of the pipeline made: its name.')),
    author: orNull(Type.Object({ name: TextOrNull, email: TextOrNull }), 'Who wrote the commit.'),
    creator: orNull(User, 'Who created it; null when that user is gone, or no user did.'),
    created_at: Timestamp,
    scheduled_at: timestamp('When it was put up for running.'),
    started_at: TimestampOrNull,
    failing_at: orNull(
      timestamp(
        'When the first hard failure of a job made the build fail; never cleared, null if there was none.',
      ),
    ),
    finished_at: TimestampOrNull,
    worked_before_seconds: optional(
      Type.Number({
        description:
          'Only after a retry of a finished build: how long it ran before. `started_at` is then the time of the retry, so the whole duration is this and the time since.',
      }),
    ),
    meta_data: described(Texts, 'Meta-data by key.'),
    pull_request: orNull(
      Type.Object({
        id: text('Number of the pull request, as text.'),
        base: orNull(text('The branch that the pull request is to be merged into.')),
        repository: orNull(text('URL of the git repository.')),
      }),
      'The pull request that is built; null when there is none.',
    ),
    merge_queue: orNull(
      Type.Object({ base_branch: text('The branch that the merge queue is for.') }),
      'The merge queue that the build belongs to; null when there is none.',
    ),
    rebuilt_from: orNull(
      Type.Object({
        id: Uuid,
        number: integer('Number of that build within its pipeline.'),
        url: Text,
      }),
      'The build that this one repeats; null when it repeats none.',
    ),
    triggered_from: orNull(
      Type.Object({
        build_id: uuid('UUID of the build.'),
        build_number: integer('Number of the build within its pipeline.'),
        build_pipeline_slug: text('Slug of the pipeline of the build.'),
      }),
      'The build whose trigger step made this one; null when none did.',
    ),
    archived_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'Get only, for an archived build: when it was archived. Everything else is as it was then.',
      }),
    ),
    jobs: Type.Optional(
      Type.Array(Job, { description: 'The jobs of the build; absent with `exclude_jobs`.' }),
    ),
    pipeline: Type.Optional(
      described(Pipeline, 'The pipeline of the build; absent with `exclude_pipeline`.'),
    ),
    cost: Type.Optional(
      Type.Object(
        {
          amount: Type.Number({ description: 'In the currency, to six decimals.' }),
          currency: text('ISO code of the organization’s currency.'),
        },
        {
          description:
            'Get only: what its jobs have cost that have ended, by the prices of their queues. Absent while that is nothing.',
        },
      ),
    ),
    job_state_counts: Type.Optional(
      Type.Object(
        {
          total: integer('How many there are in all.'),
          states: described(Type.Record(Text, Type.Integer()), 'Number of jobs by state.'),
        },
        { description: 'Get only: how many jobs there are in which state, shown or not.' },
      ),
    ),
    test_analytics: Type.Optional(described(TestRuns, 'The test runs of the build; present when asked for.')),
    test_engine: Type.Optional(
      described(TestRuns, 'The same as `test_analytics`; present when asked for by that name.'),
    ),
    retried_jobs_count: Type.Optional(integer('Retry failed jobs only: how many were retried.')),
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
  creator: Type.Optional(text('The id of the user who created it.')),
  meta_data: Type.Optional(
    Type.Record(Text, Text, { description: '`meta_data[key]=value`; of several, all must hold.' }),
  ),
  include_paused: Flag('Default true. When false, what lies on paused queues is left out.'),
  ...ShownParts,
  after: Type.Optional(text('From a `next-cursor` link: instead of `page`, and without its limit.')),
}

export const GetBuildQuery = {
  ...ShownParts,
  job_states: Type.Optional(Type.Array(Text, { description: 'Show only jobs in these states.' })),
  include_test_analytics: Flag('Add `test_analytics`.'),
  include_test_engine: Flag('Add the same as `test_engine`.'),
}

const Named = { minLength: 1, maxLength: 500, pattern: '\\S' }
const Value = Type.Union([Text, Type.Number(), Type.Boolean()])
const Person = Type.String({ maxLength: 500 })

export const CreateBuild = Type.Object(
  {
    commit: Type.String({
      ...Named,
      description: 'Commit, ref or tag to build. Must not be blank.',
      examples: ['HEAD'],
    }),
    branch: Type.String({
      ...Named,
      description: 'Name of the branch. Must not be blank.',
      examples: ['main'],
    }),
    author: optional(
      Type.Object({ name: optional(Person), email: optional(Person) }),
      'Who wrote the commit.',
    ),
    clean_checkout: optional(boolean('Whether agents remove the checkout first. Default: false.')),
    env: optional(Type.Record(Text, Value)),
    ignore_pipeline_branch_filters: optional(
      boolean('Whether to build although the pipeline’s branch filter excludes the branch. Default: false.'),
    ),
    message: optional(Type.String({ maxLength: 65_536 })),
    meta_data: optional(Type.Record(Text, Value), 'Meta-data by key.'),
    pull_request_base_branch: optional(
      Type.String({ maxLength: 500 }),
      'The branch that the pull request is to be merged into.',
    ),
    pull_request_id: optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      'Number of the pull request.',
    ),
    pull_request_labels: optional(
      Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100 }),
      'Labels of the pull request.',
    ),
    pull_request_repository: optional(
      Type.String({ maxLength: 2000 }),
      'Git repository that the pull request comes from.',
    ),
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
      text('Which, separated by commas: canceled, expired, failed, soft_failed, timed_out. Default: all.'),
    ),
  },
  { title: 'RetryFailedJobs', examples: [{ states: 'failed,timed_out' }] },
)

export type CreateBuildBody = Static<typeof CreateBuild>
export type ListQuery = { [Name in keyof typeof BuildQuery]?: Static<(typeof BuildQuery)[Name]> }
