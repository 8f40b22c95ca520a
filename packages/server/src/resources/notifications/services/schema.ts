import { Type, type Static } from 'typebox'
import {
  boolean,
  described,
  oneOf,
  optional,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
} from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

const State = (description: string) => Type.Optional(Type.Boolean({ description }))

const BuildStates = Type.Object(
  {
    build_passed: State('A build passed.'),
    build_fixed: State('A build passed, and the one before it on its branch had failed.'),
    build_failed: State('A build failed.'),
    build_blocked: State('A build waits for somebody to unblock it.'),
    build_canceled: State('A build was canceled.'),
    build_failing: State('A build is bound to fail, although some of its jobs still run.'),
    job_activated: State('Somebody unblocked a block step.'),
  },
  { title: 'SelectedBuildStates' },
)

const Scope = oneOf(
  ['all', 'some_projects', 'some_teams', 'some_clusters'],
  'Pipelines whose events the service gets.',
)

const ScopeUuids = Type.Array(Type.String(), {
  maxItems: 1000,
  description: 'Pipelines, teams or clusters, as `scope` says; empty when it is `all`.',
})

const BranchConfiguration = Type.String({
  maxLength: 4000,
  description: 'Patterns separated by spaces; `*` is any text, a leading `!` excludes. Empty: every branch.',
})

const Description = Type.String({ maxLength: 1000 })

export const DeliveryState = oneOf(
  ['pending', 'delivered', 'dead', 'discarded'],
  '`pending`: not yet, or to be tried again. `dead`: given up. `discarded`: the service was disabled before.',
)

export const ServiceState = oneOf(
  ['enabled', 'disabled', 'broken'],
  '`broken`: the installation stopped sending, because nothing got through.',
)

export type ServiceState = Static<typeof ServiceState>

const LastDelivery = Type.Object(
  {
    id: Uuid,
    event: text('Name of the event.'),
    state: DeliveryState,
    created_at: Timestamp,
    finished_at: orNull(Timestamp),
  },
  { title: 'LastNotificationDelivery' },
)

const Settings = Type.Record(Type.String(), Type.Unknown(), {
  description: 'What the provider needs; see the settings of each provider.',
})

export const serviceFields = {
  id: Uuid,
  graphql_id: orNull(Type.String()),
  url: Type.String(),
  provider: Type.Object(
    { id: Type.String({ examples: ['webhook'], description: 'Id of the provider.' }), name: Type.String() },
    { description: 'The provider of the service.' },
  ),
  description: Type.String(),
  enabled: boolean('Whether it is switched on.'),
  broken_at: orNull(
    timestamp('When the installation stopped sending because nothing got through; null while it sends.'),
  ),
  broken_reason: orNull(text('Why the installation stopped sending; enabling the service clears it.')),
  scope: Scope,
  scope_uuids: Type.Array(Uuid, {
    description:
      'UUIDs of the pipelines, teams or clusters that `scope` is limited to; empty when it is `all`.',
  }),
  branch_configuration: text(
    'Patterns of the branches to build, separated by spaces; `!` in front excludes, empty means all.',
  ),
  build_states: described(Type.Required(BuildStates), 'States of builds that are sent.'),
  created_at: Timestamp,
  created_by: UserOrNull,
  targets: Type.Optional(
    Type.Array(
      Type.Object({
        id: Uuid,
        name: orNull(text('Its name; null when the caller may not see it.')),
      }),
      { description: 'What `scope_uuids` names; only with `include_targets=true`.' },
    ),
  ),
  last_delivery: Type.Optional(
    orNull(LastDelivery, 'What it was last sent; only with `include_last_delivery=true`.'),
  ),
}

const settable = {
  description: optional(Description),
  branch_configuration: optional(BranchConfiguration),
  scope: Type.Optional(Scope),
  scope_uuids: Type.Optional(ScopeUuids),
  build_states: Type.Optional(described(BuildStates, 'States of builds that are sent.')),
  settings: Type.Optional(Settings),
}

const example = {
  description: 'Deploys',
  branch_configuration: 'main',
  build_states: { build_failed: true, build_fixed: true },
  settings: { url: 'https://hooks.example.com/builds', events: ['build.finished'] },
}

export const CreateService = Type.Object(
  {
    provider: Type.String({ examples: ['webhook'], description: 'Id of the provider.' }),
    ...settable,
    scope: Type.Optional(
      Type.Union(Scope.anyOf, { description: 'Pipelines whose events the service gets. Default: `all`.' }),
    ),
  },
  { title: 'CreateNotificationService', examples: [{ provider: 'webhook', ...example }] },
)

export const UpdateService = Type.Object(
  {
    provider: Type.Optional(
      Type.Union([Type.String(), Type.Object({ id: Type.String() })], {
        description: 'The provider that the service has; it cannot be changed.',
      }),
    ),
    ...settable,
  },
  { title: 'UpdateNotificationService', examples: [example] },
)

export type CreateServiceBody = Static<typeof CreateService>
export type UpdateServiceBody = Static<typeof UpdateService>
