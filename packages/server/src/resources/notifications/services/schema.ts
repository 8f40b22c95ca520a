import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'
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

const Scope = Type.Union([
  Type.Literal('all'),
  Type.Literal('some_projects'),
  Type.Literal('some_teams'),
  Type.Literal('some_clusters'),
])

const ScopeUuids = Type.Array(Type.String(), {
  maxItems: 1000,
  description: 'Pipelines, teams or clusters, as `scope` says; empty when it is `all`.',
})

const BranchConfiguration = Type.String({
  maxLength: 4000,
  description: 'Patterns separated by spaces; `*` is any text, a leading `!` excludes. Empty: every branch.',
})

const Description = Type.String({ maxLength: 1000 })

const Settings = Type.Record(Type.String(), Type.Unknown(), {
  description: 'What the provider needs; see the settings of each provider.',
})

export const serviceFields = {
  id: Uuid,
  graphql_id: orNull(Type.String()),
  url: Type.String(),
  provider: Type.Object({ id: Type.String({ examples: ['webhook'] }), name: Type.String() }),
  description: Type.String(),
  enabled: Type.Boolean(),
  broken_at: orNull(Timestamp),
  broken_reason: orNull(
    Type.String({ description: 'Why the installation stopped sending; enabling the service clears it.' }),
  ),
  scope: Scope,
  scope_uuids: Type.Array(Uuid),
  branch_configuration: Type.String(),
  build_states: Type.Required(BuildStates),
  created_at: Timestamp,
  created_by: UserOrNull,
}

const settable = {
  description: Type.Optional(orNull(Description)),
  branch_configuration: Type.Optional(orNull(BranchConfiguration)),
  scope: Type.Optional(Scope),
  scope_uuids: Type.Optional(ScopeUuids),
  build_states: Type.Optional(BuildStates),
  settings: Type.Optional(Settings),
}

const example = {
  description: 'Deploys',
  branch_configuration: 'main',
  build_states: { build_failed: true, build_fixed: true },
  settings: { url: 'https://hooks.example.com/builds', events: ['build.finished'] },
}

export const CreateService = Type.Object(
  { provider: Type.String({ examples: ['webhook'] }), ...settable },
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
