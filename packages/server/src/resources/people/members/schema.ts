import { Type, type Static } from 'typebox'
import { uuid } from '../../schema.ts'
import { MemberRole, SsoMode } from '../schema.ts'

export const Member = Type.Object(
  {
    id: uuid('The id of the user.'),
    name: Type.String(),
    email: Type.String(),
    role: MemberRole,
    sso_mode: Type.Optional(
      Type.Union(SsoMode.anyOf, {
        description: 'Shown to administrators, and to everyone on their own membership.',
      }),
    ),
  },
  { title: 'Member' },
)

export const UpdateMember = Type.Object(
  {
    role: Type.Optional(MemberRole),
    sso_mode: Type.Optional(SsoMode),
  },
  { title: 'UpdateMember', description: 'At least one of the two.', examples: [{ role: 'admin' }] },
)

export type UpdateMemberBody = Static<typeof UpdateMember>
