import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid, viewerOf } from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const UserActor = Type.Object({
  id: Uuid,
  graphql_id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  type: Type.Literal('user'),
})

export const TeamActor = Type.Object({
  id: Uuid,
  graphql_id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
})

export const Cluster = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    default_queue_id: orNull(Uuid),
    name: Type.String(),
    description: Type.String(),
    emoji: orNull(Type.String()),
    color: orNull(Type.String()),
    maintainers: Type.Object({
      users: Type.Array(Type.Object({ id: Uuid, actor: UserActor })),
      teams: Type.Array(Type.Object({ id: Uuid, actor: TeamActor })),
    }),
    url: Type.String(),
    web_url: Type.String(),
    queues_url: Type.String(),
    default_queue_url: orNull(Type.String()),
    created_at: Timestamp,
    created_by: UserOrNull,
    hosted: Type.Optional(Type.Boolean({ description: 'Shown to those who may manage the cluster.' })),
    hosted_git_mirror_enabled: Type.Optional(
      Type.Boolean({ description: 'Get and update only, for those who may manage the cluster.' }),
    ),
    hosted_container_cache_enabled: Type.Optional(
      Type.Boolean({ description: 'Get and update only, for those who may manage the cluster.' }),
    ),
    viewer: viewerOf({ manage: Type.Boolean() }),
  },
  { title: 'Cluster' },
)

const Name = Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', description: 'must not be blank' })
const Description = orNull(Type.String({ maxLength: 10_000 }))
export const Emoji = orNull(
  Type.String({
    pattern: '^(:[\\w+-]{1,100}:)?$',
    description: 'must be an emoji in colon syntax, such as :rocket:',
    examples: [':rocket:'],
  }),
)
export const Color = orNull(
  Type.String({
    pattern: '^(#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6})?$',
    description: 'must be a hex color, such as #FFE0F1',
    examples: ['#FFE0F1'],
  }),
)

export const CreateCluster = Type.Object(
  {
    name: Name,
    description: Type.Optional(Description),
    emoji: Type.Optional(Emoji),
    color: Type.Optional(Color),
    maintainers: Type.Optional(
      Type.Array(Type.Object({ user: Type.Optional(Type.String()), team: Type.Optional(Type.String()) }), {
        maxItems: 100,
      }),
    ),
    hosted: Type.Optional(
      Type.Boolean({ description: 'Whether this installation starts the agents itself.' }),
    ),
  },
  {
    title: 'CreateCluster',
    examples: [{ name: 'Open Source', description: 'Public builds', emoji: ':rocket:', color: '#FFE0F1' }],
  },
)

export const UpdateCluster = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    emoji: Type.Optional(Emoji),
    color: Type.Optional(Color),
    default_queue_id: Type.Optional(orNull(Type.String())),
    hosted_git_mirror_enabled: Type.Optional(Type.Boolean()),
    hosted_container_cache_enabled: Type.Optional(Type.Boolean()),
  },
  {
    title: 'UpdateCluster',
    examples: [{ name: 'Open Source', default_queue_id: '01885682-55a7-44f5-84f3-0402fb452e66' }],
  },
)

export type CreateClusterBody = Static<typeof CreateCluster>
export type UpdateClusterBody = Static<typeof UpdateCluster>
