import { Type, type Static } from 'typebox'
import { orNull, Timestamp, Uuid, viewerOf } from '../../schema.ts'
import { TeamRole } from '../schema.ts'
import { UserOrNull } from '../user/schema.ts'

const Privacy = Type.Union([Type.Literal('visible'), Type.Literal('secret')])
export type Privacy = Static<typeof Privacy>

const rights = {
  members_can_create_pipelines: Type.Boolean(),
  members_can_create_suites: Type.Boolean(),
  members_can_create_registries: Type.Boolean(),
  members_can_destroy_registries: Type.Boolean(),
  members_can_destroy_packages: Type.Boolean(),
}

export const Team = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    description: Type.String(),
    privacy: Privacy,
    default: Type.Boolean({ description: 'Whether new members of the organization join it.' }),
    default_member_role: TeamRole,
    ...rights,
    created_at: Timestamp,
    created_by: UserOrNull,
    viewer: viewerOf({ manage: Type.Boolean() }),
  },
  { title: 'Team' },
)

const Name = Type.String({
  maxLength: 255,
  pattern: '[\\p{L}\\p{N}]',
  description: 'must contain a letter or a digit',
})

const optionalFields = {
  description: Type.Optional(orNull(Type.String({ maxLength: 10_000 }))),
  privacy: Type.Optional(
    Type.Union(Privacy.anyOf, {
      description: 'A secret team is seen by its members and administrators only.',
    }),
  ),
  is_default_team: Type.Optional(
    Type.Boolean({ description: 'Whether new members of the organization join it.' }),
  ),
  default_member_role: Type.Optional(TeamRole),
  ...Type.Partial(Type.Object(rights)).properties,
}

export const CreateTeam = Type.Object(
  { name: Name, ...optionalFields },
  {
    title: 'CreateTeam',
    examples: [{ name: 'Mobile', description: 'Apps', privacy: 'visible', default_member_role: 'member' }],
  },
)

export const UpdateTeam = Type.Object(
  { name: Type.Optional(Name), ...optionalFields },
  { title: 'UpdateTeam', examples: [{ name: 'Mobile apps', privacy: 'secret' }] },
)

export type CreateTeamBody = Static<typeof CreateTeam>
export type UpdateTeamBody = Static<typeof UpdateTeam>
