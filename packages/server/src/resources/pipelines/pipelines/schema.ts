import { Type, type Static, type TSchema } from 'typebox'
import { Color, Emoji } from '../../clusters/clusters/schema.ts'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'
import { AccessLevel } from '../team-access/schema.ts'

const Text = Type.String()
const TextOrNull = orNull(Text)
const IntegerOrNull = orNull(Type.Integer())
const Env = Type.Record(Text, Text)

const ConfigurationStep = Type.Union([
  Type.Object({
    type: Type.Literal('script'),
    name: TextOrNull,
    command: TextOrNull,
    artifact_paths: TextOrNull,
    branch_configuration: TextOrNull,
    env: Env,
    timeout_in_minutes: IntegerOrNull,
    agent_query_rules: Type.Array(Text),
    concurrency: IntegerOrNull,
    parallelism: IntegerOrNull,
    plugins: Type.Array(Type.Record(Text, Type.Unknown())),
  }),
  Type.Object({ type: Type.Literal('waiter') }),
  Type.Object({ type: Type.Literal('manual'), label: TextOrNull }),
  Type.Object({
    type: Type.Literal('trigger'),
    label: TextOrNull,
    pipeline: Text,
    build: Type.Object({ message: TextOrNull, branch: TextOrNull, commit: TextOrNull, env: Env }),
    async: Type.Boolean(),
    branch_configuration: TextOrNull,
    concurrency: IntegerOrNull,
    parallelism: IntegerOrNull,
  }),
])
export type ConfigurationStep = Static<typeof ConfigurationStep>

const Visibility = Type.Union([Type.Literal('private'), Type.Literal('public')])
export type Visibility = Static<typeof Visibility>

const Setting = Type.Union([Type.Boolean(), Text, Type.Null()])

export const Pipeline = Type.Object(
  {
    id: Uuid,
    graphql_id: Text,
    url: Text,
    web_url: Text,
    name: Text,
    description: Text,
    slug: Text,
    repository: Text,
    cluster_id: orNull(Uuid),
    cluster_url: TextOrNull,
    pipeline_template_uuid: orNull(Uuid),
    branch_configuration: TextOrNull,
    clone_mirror_url: TextOrNull,
    default_branch: Text,
    skip_queued_branch_builds: Type.Boolean(),
    skip_queued_branch_builds_filter: TextOrNull,
    cancel_running_branch_builds: Type.Boolean(),
    cancel_running_branch_builds_filter: TextOrNull,
    allow_rebuilds: Type.Boolean(),
    provider: Type.Object({
      id: Type.String({ description: 'Where the repository is hosted.' }),
      webhook_url: Type.String({
        description: 'Empty unless the caller may edit the pipeline and the token has write_pipelines.',
      }),
      settings: Type.Record(Text, Setting),
    }),
    builds_url: Text,
    badge_url: Text,
    created_by: UserOrNull,
    created_at: Timestamp,
    archived_at: orNull(Timestamp),
    env: Env,
    scheduled_builds_count: Type.Integer(),
    running_builds_count: Type.Integer(),
    scheduled_jobs_count: Type.Integer(),
    running_jobs_count: Type.Integer(),
    waiting_jobs_count: Type.Integer(),
    visibility: Visibility,
    tags: Type.Array(Text),
    emoji: TextOrNull,
    color: TextOrNull,
    default_command_step_timeout: IntegerOrNull,
    maximum_command_step_timeout: IntegerOrNull,
    poll_interval_seconds: orNull(
      Type.Integer({ description: 'How often the repository is polled; null: never.' }),
    ),
    poll_error: orNull(Type.String({ description: 'Why the last poll of the repository failed.' })),
    configuration: Type.String({ description: 'YAML.' }),
    steps: Type.Array(ConfigurationStep),
    viewer: Type.Optional(
      Type.Object({
        may: Type.Object({
          build: Type.Boolean({ description: 'Whether the caller may create, cancel and unblock builds.' }),
          edit: Type.Boolean(),
        }),
        favorite: Type.Boolean({ description: 'Whether the caller has marked the pipeline as a favorite.' }),
      }),
    ),
  },
  { title: 'Pipeline' },
)

export const GithubWebhooks = Type.Object(
  {
    url: Text,
    enabled: Type.Boolean(),
    disabled_at: orNull(Timestamp),
    disabled_by: orNull(Type.String({ description: 'The name of the user who disabled them.' })),
  },
  { title: 'GithubWebhooks' },
)

const optional = <T extends TSchema>(schema: T) => Type.Optional(orNull(schema))
const GivenEnv = Type.Record(Text, Type.Union([Text, Type.Number(), Type.Boolean(), Type.Null()]))

const VisualStep = Type.Object({
  type: Type.Union([
    Type.Literal('script'),
    Type.Literal('waiter'),
    Type.Literal('manual'),
    Type.Literal('trigger'),
  ]),
  name: optional(Text),
  command: optional(Text),
  artifact_paths: optional(Text),
  branch_configuration: optional(Text),
  env: optional(GivenEnv),
  timeout_in_minutes: optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  agent_query_rules: optional(Type.Array(Text)),
  parallelism: optional(Type.Integer({ minimum: 1, maximum: 4000 })),
  plugins: Type.Optional(Type.Unsafe<unknown>({})),
  label: optional(Text),
  trigger_project_slug: optional(Text),
  trigger_commit: optional(Text),
  trigger_branch: optional(Text),
  trigger_async: optional(Type.Boolean()),
  pipeline: optional(Text),
  async: optional(Type.Boolean()),
  build: optional(
    Type.Object({
      message: optional(Text),
      commit: optional(Text),
      branch: optional(Text),
      env: optional(GivenEnv),
    }),
  ),
})
export type VisualStep = Static<typeof VisualStep>

const Name = Type.String({ maxLength: 255, pattern: '\\S', description: 'must not be blank' })
const Repository = Type.String({
  maxLength: 2000,
  // Git would read a leading dash as an option.
  pattern: '^[^\\s-]\\S*$',
  description: 'must be the URL of a git repository',
  examples: ['git@github.com:acme/app.git'],
})
const Pattern = optional(Type.String({ maxLength: 10_000 }))
const Minutes = optional(Type.Integer({ minimum: 1, maximum: 525_600 }))

const optionalFields = {
  cluster_id: optional(
    Type.String({ description: 'May be left out when the organization has a default cluster, or only one.' }),
  ),
  configuration: optional(
    Type.String({ description: 'YAML. Not needed with a template or a list of steps.' }),
  ),
  steps: optional(Type.Array(VisualStep, { description: 'Instead of configuration: a list of steps.' })),
  slug: optional(
    Type.String({
      maxLength: 100,
      pattern: '^([a-zA-Z0-9]+[a-zA-Z0-9-]*)?$',
      description: 'must consist of letters, digits and dashes, and not begin with a dash',
    }),
  ),
  description: optional(Type.String({ maxLength: 10_000 })),
  emoji: Type.Optional(Emoji),
  color: Type.Optional(Color),
  default_branch: optional(Type.String({ maxLength: 255 })),
  env: optional(GivenEnv),
  branch_configuration: Pattern,
  skip_queued_branch_builds: Type.Optional(Type.Boolean()),
  skip_queued_branch_builds_filter: Pattern,
  cancel_running_branch_builds: Type.Optional(Type.Boolean()),
  cancel_running_branch_builds_filter: Pattern,
  allow_rebuilds: Type.Optional(Type.Boolean()),
  default_command_step_timeout: Minutes,
  maximum_command_step_timeout: Minutes,
  poll_interval_seconds: optional(
    Type.Integer({
      minimum: 30,
      maximum: 86_400,
      description: 'Poll the repository this often, for hosts that send no webhooks.',
    }),
  ),
  clone_mirror_url: optional(Type.String({ maxLength: 2000 })),
  pipeline_template_uuid: optional(Text),
  provider_settings: optional(Type.Record(Text, Setting)),
  tags: optional(
    Type.Array(
      Type.String({ minLength: 1, maxLength: 128, pattern: '\\S', description: 'must not be blank' }),
      { maxItems: 10 },
    ),
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
