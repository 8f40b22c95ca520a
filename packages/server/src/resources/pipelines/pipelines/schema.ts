import { Type, type Static } from 'typebox'
import { Color } from '../../clusters/clusters/schema.ts'
import {
  boolean,
  described,
  Emoji,
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
import { UserOrNull } from '../../people/user/schema.ts'
import { AccessLevel } from '../team-access/schema.ts'

const Text = Type.String()
const TextOrNull = orNull(Text)
const Env = Type.Record(Text, Text)

const Label = orNull(text('Name of the step, for people.'))

const Parallelism = orNull(integer('How many parallel jobs the step becomes.'))

const Concurrency = orNull(integer('How many jobs of the concurrency group may run at once.'))

const BranchConfiguration = orNull(
  text('Patterns of the branches to build, separated by spaces; `!` in front excludes, empty means all.'),
)

const ConfigurationStep = Type.Union([
  Type.Object({
    type: Type.Literal('script', { description: 'Kind of the step.' }),
    name: TextOrNull,
    command: orNull(text('The command; null when there is none.')),
    artifact_paths: orNull(
      text('Patterns of the files to upload, separated by `;`; null when there are none.'),
    ),
    branch_configuration: BranchConfiguration,
    env: Env,
    timeout_in_minutes: orNull(integer('Minutes after which it ends by itself.')),
    agent_query_rules: Type.Array(Text, { description: 'What an agent’s tags must match, as `key=value`.' }),
    concurrency: Concurrency,
    parallelism: Parallelism,
    plugins: Type.Array(Type.Record(Text, Type.Unknown()), {
      description: 'Plugins of the step, each with its settings.',
    }),
  }),
  Type.Object({ type: Type.Literal('waiter', { description: 'Kind of the step.' }) }),
  Type.Object({ type: Type.Literal('manual', { description: 'Kind of the step.' }), label: Label }),
  Type.Object({
    type: Type.Literal('trigger', { description: 'Kind of the step.' }),
    label: Label,
    pipeline: text('Slug of the pipeline to build.'),
    build: Type.Object(
      { message: TextOrNull, branch: TextOrNull, commit: TextOrNull, env: Env },
      { description: 'What the triggered build is made with.' },
    ),
    async: boolean('Whether the step goes on without waiting for the triggered build.'),
    branch_configuration: BranchConfiguration,
    concurrency: Concurrency,
    parallelism: Parallelism,
  }),
])
export type ConfigurationStep = Static<typeof ConfigurationStep>

const Visibility = oneOf(
  ['private', 'public'],
  'Whether everybody may see the pipeline, or only the organization.',
)
export type Visibility = Static<typeof Visibility>

const Setting = Type.Union([Type.Boolean(), Text, Type.Null()])

const AllowRebuilds = boolean('Whether builds may be rebuilt.')

const CancelRunningBranchBuilds = boolean(
  'Whether a new build cancels older ones of its branch that are running.',
)

const SkipQueuedBranchBuilds = boolean(
  'Whether a new build skips older ones of its branch that have not started.',
)

export const Pipeline = Type.Object(
  {
    id: Uuid,
    graphql_id: Text,
    url: Text,
    web_url: Text,
    name: Text,
    description: Text,
    slug: Text,
    repository: text('URL of the git repository.'),
    cluster_id: orNull(Uuid),
    cluster_url: TextOrNull,
    pipeline_template_uuid: orNull(
      uuid('UUID of the template that the steps come from; null when there is none.'),
    ),
    branch_configuration: BranchConfiguration,
    clone_mirror_url: orNull(
      text('URL that agents clone from instead of `repository`; null when there is none.'),
    ),
    default_branch: text('Branch that is built when none is named, and shown first.'),
    skip_queued_branch_builds: SkipQueuedBranchBuilds,
    skip_queued_branch_builds_filter: orNull(
      text('Branch patterns that skipping is limited to; null or empty: all.'),
    ),
    cancel_running_branch_builds: CancelRunningBranchBuilds,
    cancel_running_branch_builds_filter: orNull(
      text('Branch patterns that canceling is limited to; null or empty: all.'),
    ),
    allow_rebuilds: AllowRebuilds,
    provider: Type.Object(
      {
        id: text('Where the repository is hosted.'),
        webhook_url: text('Empty unless the caller may edit the pipeline and the token has write_pipelines.'),
        webhook_id: orNull(
          text(
            'Id of the webhook at the host; null unless it was created here and the caller may edit the pipeline.',
          ),
        ),
        settings: described(Type.Record(Text, Setting), 'The settings, by name.'),
      },
      { description: 'The host of the repository.' },
    ),
    builds_url: text('Address of the pipeline’s builds in the API.'),
    badge_url: text('Address of an image with the state of the last build.'),
    created_by: UserOrNull,
    created_at: Timestamp,
    archived_at: orNull(timestamp('When the pipeline was archived; null when it is not.')),
    env: Env,
    scheduled_builds_count: integer('Number of builds that wait to start.'),
    running_builds_count: integer('Number of builds that are running.'),
    scheduled_jobs_count: integer('Number of jobs that are ready for an agent.'),
    running_jobs_count: integer('Number of jobs that are running.'),
    waiting_jobs_count: integer('Number of jobs that wait for something else.'),
    visibility: Visibility,
    tags: Type.Array(Text, { description: 'Free words to find the pipeline by.' }),
    emoji: orNull(text('Emoji in colon syntax, such as `:rocket:`; null when none is set.')),
    color: orNull(text('Background of the emoji, as a hex color such as `#FFE0F1`; null when none is set.')),
    default_command_step_timeout: orNull(
      integer('Minutes after which a command step is canceled when it sets no time itself; null: none.'),
    ),
    maximum_command_step_timeout: orNull(integer('The most minutes that a command step may set; null: any.')),
    poll_interval_seconds: orNull(integer('How often the repository is polled; null: never.')),
    poll_error: orNull(text('Why the last poll of the repository failed.')),
    junit_artifacts: orNull(
      text('Patterns of artifacts that are read as JUnit, separated by `;`; null: none are.'),
    ),
    configuration: text('YAML.'),
    steps: Type.Array(ConfigurationStep, { description: 'The steps of the pipeline.' }),
    viewer: Type.Optional(
      Type.Object(
        {
          may: Type.Object(
            {
              build: boolean('Whether the caller may create, cancel and unblock builds.'),
              edit: boolean('Whether the caller may change and delete it.'),
            },
            { description: 'What the caller may do, as far as the scopes of the token allow it.' },
          ),
          favorite: boolean('Whether the caller has marked the pipeline as a favorite.'),
        },
        { description: 'The caller’s view of it; only with `include_viewer=true`.' },
      ),
    ),
  },
  { title: 'Pipeline' },
)

export const GithubWebhooks = Type.Object(
  {
    url: Text,
    enabled: boolean('Whether webhooks of the host make builds.'),
    disabled_at: orNull(timestamp('When it was disabled; null when it is enabled.')),
    disabled_by: orNull(text('The name of the user who disabled them.')),
  },
  { title: 'GithubWebhooks' },
)

const GivenEnv = Type.Record(Text, Type.Union([Text, Type.Number(), Type.Boolean(), Type.Null()]))

const VisualStep = Type.Object({
  type: oneOf(['script', 'waiter', 'manual', 'trigger'], 'Kind of the step.'),
  name: optional(Text),
  command: optional(text('The command; null when there is none.')),
  artifact_paths: optional(
    text('Patterns of the files to upload, separated by `;`; null when there are none.'),
  ),
  branch_configuration: optional(
    text('Patterns of the branches to build, separated by spaces; `!` in front excludes, empty means all.'),
  ),
  env: optional(GivenEnv),
  timeout_in_minutes: optional(
    Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
    'Minutes after which it ends by itself.',
  ),
  agent_query_rules: optional(Type.Array(Text), 'What an agent’s tags must match, as `key=value`.'),
  parallelism: optional(
    Type.Integer({ minimum: 1, maximum: 4000 }),
    'How many parallel jobs the step becomes.',
  ),
  plugins: Type.Optional(
    Type.Unsafe<unknown>({ description: 'Plugins of the step, each with its settings.' }),
  ),
  label: optional(text('Name of the step, for people.')),
  trigger_project_slug: optional(text('Trigger steps: slug of the pipeline to build.')),
  trigger_commit: optional(text('Trigger steps: commit to build.')),
  trigger_branch: optional(text('Trigger steps: branch to build.')),
  trigger_async: optional(boolean('Trigger steps: whether not to wait for the triggered build.')),
  pipeline: optional(text('Trigger steps: slug of the pipeline to build.')),
  async: optional(boolean('Whether the step goes on without waiting for the triggered build.')),
  build: optional(
    Type.Object({
      message: optional(Text),
      commit: optional(Text),
      branch: optional(Text),
      env: optional(GivenEnv),
    }),
    'What the triggered build is made with.',
  ),
})
export type VisualStep = Static<typeof VisualStep>

const Name = Type.String({
  maxLength: 255,
  pattern: '\\S',
  description: 'Name, for people. Must not be blank.',
})
const Repository = Type.String({
  maxLength: 2000,
  // Git would read a leading dash as an option.
  pattern: '^[^\\s-]\\S*$',
  description: 'URL of the git repository. Must be the URL of a git repository.',
  examples: ['git@github.com:acme/app.git'],
})

const optionalFields = {
  cluster_id: optional(text('May be left out when the organization has a default cluster, or only one.')),
  configuration: optional(text('YAML. Not needed with a template or a list of steps.')),
  steps: optional(Type.Array(VisualStep, { description: 'Instead of configuration: a list of steps.' })),
  slug: optional(
    Type.String({
      maxLength: 100,
      pattern: '^([a-zA-Z0-9]+[a-zA-Z0-9-]*)?$',
      description:
        'Name in URLs: letters, digits and dashes. Must consist of letters, digits and dashes, and not begin with a dash.',
    }),
  ),
  description: optional(Type.String({ maxLength: 10_000 })),
  emoji: Type.Optional(Emoji),
  color: Type.Optional(Color),
  default_branch: optional(
    Type.String({ maxLength: 255 }),
    'Branch that is built when none is named, and shown first.',
  ),
  env: optional(GivenEnv),
  branch_configuration: optional(
    Type.String({ maxLength: 10_000 }),
    'Patterns of the branches to build, separated by spaces; `!` in front excludes, empty means all.',
  ),
  skip_queued_branch_builds: Type.Optional(SkipQueuedBranchBuilds),
  skip_queued_branch_builds_filter: optional(
    Type.String({ maxLength: 10_000 }),
    'Branch patterns that skipping is limited to; null or empty: all.',
  ),
  cancel_running_branch_builds: Type.Optional(CancelRunningBranchBuilds),
  cancel_running_branch_builds_filter: optional(
    Type.String({ maxLength: 10_000 }),
    'Branch patterns that canceling is limited to; null or empty: all.',
  ),
  allow_rebuilds: Type.Optional(AllowRebuilds),
  default_command_step_timeout: optional(
    Type.Integer({ minimum: 0, maximum: 525_600 }),
    'Minutes after which a command step is canceled when it sets no time itself; null or 0: none.',
  ),
  maximum_command_step_timeout: optional(
    Type.Integer({ minimum: 0, maximum: 525_600 }),
    'The most minutes that a command step may set; null: any.',
  ),
  poll_interval_seconds: optional(
    Type.Integer({
      minimum: 30,
      maximum: 86_400,
      description: 'Poll the repository this often, for hosts that send no webhooks.',
    }),
  ),
  junit_artifacts: optional(
    Type.String({ maxLength: 2000 }),
    'Patterns of artifacts that are read as JUnit, separated by `;`, for agents that do not know `test_results`; null or empty: none are.',
  ),
  clone_mirror_url: optional(
    Type.String({ maxLength: 2000 }),
    'URL that agents clone from instead of `repository`; null when there is none.',
  ),
  pipeline_template_uuid: optional(
    text('UUID of the template that the steps come from; null when there is none.'),
  ),
  provider_settings: optional(
    Type.Record(Text, Setting),
    'What is built and reported for the source host, by the name of the setting.',
  ),
  tags: optional(
    Type.Array(
      Type.String({ minLength: 1, maxLength: 128, pattern: '\\S', description: 'must not be blank' }),
      { maxItems: 10 },
    ),
    'Free words to find the pipeline by.',
  ),
  teams: optional(Type.Record(Text, AccessLevel, { description: 'Access levels by the UUID of the team.' })),
  team_uuids: optional(Type.Array(Text, { description: 'The same, each with manage_build_and_read.' })),
  visibility: Type.Optional(Visibility),
}

const example = {
  name: 'App',
  repository: 'git@github.com:acme/app.git',
  cluster_id: '42f1a7da-812d-4430-93d8-1cc7c33a6bcf',
  configuration: 'steps:\n  - command: make test\n',
}

export const CreatePipeline = Type.Object(
  { name: Name, repository: Repository, ...optionalFields },
  { title: 'CreatePipeline', examples: [example] },
)

export const UpdatePipeline = Type.Object(
  { name: Type.Optional(Name), repository: Type.Optional(Repository), ...optionalFields },
  { title: 'UpdatePipeline', examples: [{ configuration: 'steps:\n  - command: make test\n' }] },
)

export type CreatePipelineBody = Static<typeof CreatePipeline>
export type UpdatePipelineBody = Static<typeof UpdatePipeline>
