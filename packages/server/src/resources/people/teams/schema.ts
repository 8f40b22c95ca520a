import { Type, type Static } from 'typebox'
import { boolean, oneOf, optional, Timestamp, Uuid, viewerOf } from '../../schema.ts'
import { TeamRole } from '../schema.ts'
import { UserOrNull } from '../user/schema.ts'

const Privacy = oneOf(['visible', 'secret'])
export type Privacy = Static<typeof Privacy>

const rights = {
  members_can_create_pipelines: boolean('Whether members of the team may create pipelines in it.'),
  members_can_create_suites: boolean('Whether members of the team may create test suites.'),
  members_can_create_registries: boolean(
    'Kept for clients that send it; this installation has no package registries.',
  ),
  members_can_destroy_registries: boolean(
    'Kept for clients that send it; this installation has no package registries.',
  ),
  members_can_destroy_packages: boolean(
    'Kept for clients that send it; this installation has no package registries.',
  ),
}

const DefaultMemberRole = Type.Union(TeamRole.anyOf, {
  description: 'The role that new members of the team get.',
})

export const Team = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    name: Type.String(),
    slug: Type.String(),
    description: Type.String(),
    privacy: Type.Union(Privacy.anyOf, {
      description:
        'Whether everybody in the organization sees the team, or only its members and administrators.',
    }),
    default: boolean('Whether new members of the organization join it.'),
    is_default_team: boolean('The same as `default`, by the name that requests have.'),
    default_member_role: DefaultMemberRole,
    ...rights,
    created_at: Timestamp,
    created_by: UserOrNull,
    viewer: viewerOf({
      manage: boolean('Whether the caller may change and delete it.'),
    }),
  },
  { title: 'Team' },
)

const Name = Type.String({
  maxLength: 255,
  pattern: '[\\p{L}\\p{N}]',
  description: 'Name, for people. Must contain a letter or a digit.',
})

const optionalFields = {
  description: optional(Type.String({ maxLength: 10_000 })),
  privacy: Type.Optional(
    Type.Union(Privacy.anyOf, {
      description: 'A secret team is seen by its members and administrators only.',
    }),
  ),
  is_default_team: Type.Optional(boolean('Whether new members of the organization join it.')),
  default_member_role: Type.Optional(DefaultMemberRole),
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
