import { Type, type Static } from 'typebox'
import { boolean, text, Timestamp, uuid } from '../../schema.ts'
import { MemberRole } from '../schema.ts'

const Owner = Type.Object(
  { id: uuid('The id of the user.'), name: Type.String(), email: Type.String() },
  { title: 'ServiceAccountOwner' },
)

const description = 'What the program does.'

export const ServiceAccount = Type.Object(
  {
    id: uuid('The id of the user, as teams, builds and audit events name it.'),
    name: Type.String(),
    description: text(description),
    role: MemberRole,
    owners: Type.Array(Owner, {
      description: 'The people who answer for the account and manage its tokens, besides administrators.',
    }),
    has_owner: boolean(
      'False: all owners have left the organization. Give the account another, or delete it.',
    ),
    created_at: Timestamp,
  },
  { title: 'ServiceAccount' },
)

const fields = {
  name: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
  description: Type.String({ maxLength: 1000, description }),
  role: MemberRole,
  owner_ids: Type.Array(uuid('A member of the organization.'), {
    minItems: 1,
    maxItems: 50,
    description: 'The members who answer for the account. By default the caller.',
  }),
}

export const CreateServiceAccount = Type.Object(
  {
    name: fields.name,
    description: Type.Optional(fields.description),
    role: Type.Optional(fields.role),
    owner_ids: Type.Optional(fields.owner_ids),
  },
  { title: 'CreateServiceAccount', examples: [{ name: 'Deployer', description: 'Starts releases.' }] },
)

export const UpdateServiceAccount = Type.Partial(Type.Object(fields), {
  title: 'UpdateServiceAccount',
  examples: [{ description: 'Starts releases of the shop.' }],
})

export type CreateServiceAccountBody = Static<typeof CreateServiceAccount>
export type UpdateServiceAccountBody = Static<typeof UpdateServiceAccount>
