import { Type, type Static } from 'typebox'
import {
  boolean,
  described,
  Emoji,
  optional,
  orNull,
  text,
  Timestamp,
  Uuid,
  uuid,
  viewerOf,
} from '../../schema.ts'
import { UserOrNull } from '../../people/user/schema.ts'

export const UserActor = Type.Object({
  id: Uuid,
  graphql_id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  type: Type.Literal('user', { description: 'Always `user`.' }),
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
    default_queue_id: orNull(
      uuid('UUID of the queue for agents and jobs that name none; null when there is none.'),
    ),
    name: Type.String(),
    description: Type.String(),
    emoji: orNull(text('Emoji in colon syntax, such as `:rocket:`; null when none is set.')),
    color: orNull(text('Background of the emoji, as a hex color such as `#FFE0F1`; null when none is set.')),
    maintainers: Type.Object(
      {
        users: Type.Array(
          Type.Object({ id: Uuid, actor: described(UserActor, 'Who it is: a user or a team.') }),
          {
            description: 'Those that are users.',
          },
        ),
        teams: Type.Array(
          Type.Object({ id: Uuid, actor: described(TeamActor, 'Who it is: a user or a team.') }),
          { description: 'The teams.' },
        ),
      },
      { description: 'Users and teams that may manage the cluster.' },
    ),
    url: Type.String(),
    web_url: Type.String(),
    queues_url: text('Address of the cluster’s queues in the API.'),
    default_queue_url: orNull(text('Address of the default queue in the API; null when there is none.')),
    created_at: Timestamp,
    created_by: UserOrNull,
    hosted: Type.Optional(boolean('Shown to those who may manage the cluster.')),
    hosted_git_mirror_enabled: Type.Optional(
      boolean('Get and update only, for those who may manage the cluster.'),
    ),
    hosted_container_cache_enabled: Type.Optional(
      boolean('Get and update only, for those who may manage the cluster.'),
    ),
    viewer: viewerOf({
      manage: boolean('Whether the caller may change and delete it.'),
    }),
  },
  { title: 'Cluster' },
)

const Name = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '\\S',
  description: 'Name, for people. Must not be blank.',
})
const Description = orNull(Type.String({ maxLength: 10_000 }))
export const Color = orNull(
  Type.String({
    pattern: '^(#[0-9a-fA-F]{3}|#[0-9a-fA-F]{6})?$',
    description:
      'Background of the emoji, as a hex color such as `#FFE0F1`; null when none is set. Must be a hex color, such as #FFE0F1.',
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
      Type.Array(
        Type.Object({
          user: Type.Optional(text('UUID of a member of the organization.')),
          team: Type.Optional(text('UUID of a team of the organization.')),
        }),
        {
          maxItems: 100,
          description: 'Users and teams that may manage the cluster.',
        },
      ),
    ),
    hosted: Type.Optional(boolean('Whether this installation starts the agents itself.')),
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
    default_queue_id: optional(
      text('UUID of the queue for agents and jobs that name none; null when there is none.'),
    ),
    hosted_git_mirror_enabled: Type.Optional(
      boolean('Whether hosted agents share a mirror of the repository.'),
    ),
    hosted_container_cache_enabled: Type.Optional(
      boolean('Whether hosted agents share a cache of container images.'),
    ),
  },
  {
    title: 'UpdateCluster',
    examples: [{ name: 'Open Source', default_queue_id: '01885682-55a7-44f5-84f3-0402fb452e66' }],
  },
)

export type CreateClusterBody = Static<typeof CreateCluster>
export type UpdateClusterBody = Static<typeof UpdateCluster>
