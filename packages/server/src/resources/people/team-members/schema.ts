import { Type, type Static } from 'typebox'
import { text, Timestamp, uuid } from '../../schema.ts'
import { TeamRole } from '../schema.ts'

export const TeamMember = Type.Object(
  {
    user_id: uuid('UUID of the user.'),
    user_name: text('Name of the user.'),
    role: TeamRole,
    created_at: Timestamp,
  },
  { title: 'TeamMember' },
)

export const CreateTeamMember = Type.Object(
  {
    user_id: Type.String({
      format: 'uuid',
      description: 'UUID of the user. Must be the UUID of a member of the organization.',
    }),
    role: Type.Optional(TeamRole),
  },
  {
    title: 'CreateTeamMember',
    description: 'Without a role, the one that the team gives to new members.',
    examples: [{ user_id: '01885682-55a7-44f5-84f3-0402fb452e66', role: 'maintainer' }],
  },
)

export const UpdateTeamMember = Type.Object(
  { role: TeamRole },
  { title: 'UpdateTeamMember', examples: [{ role: 'maintainer' }] },
)

export type CreateTeamMemberBody = Static<typeof CreateTeamMember>
export type UpdateTeamMemberBody = Static<typeof UpdateTeamMember>
