import { Type, type Static } from 'typebox'
import { boolean, viewerOf, orNull, text, Timestamp, Uuid } from '../../schema.ts'

export const User = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    avatar_url: Type.String({ format: 'uri', description: 'Address of the user’s avatar image.' }),
    created_at: Timestamp,
  },
  { title: 'User' },
)

export const OwnUser = Type.Object(
  {
    ...User.properties,
    viewer: viewerOf({ see_installation: boolean('See the installation: `GET /v2/installation`.') }),
  },
  { title: 'OwnUser' },
)

export const UserOrNull = orNull(User)

/** A user in the short form that invitations and secrets show. */
export const Person = Type.Object({ id: Uuid, name: Type.String(), email: Type.String() })

export const UpdateUser = Type.Object(
  { name: Type.String({ maxLength: 200 }) },
  { title: 'UpdateUser', examples: [{ name: 'Ada Lovelace' }] },
)

export const ChangePassword = Type.Object(
  {
    current_password: Type.Optional(
      Type.String({ maxLength: 500, description: 'Not needed within an hour after opening a sign-in link.' }),
    ),
    new_password: text('At least 8 and at most 500 characters.'),
  },
  {
    title: 'ChangePassword',
    examples: [{ current_password: 'what it was until now', new_password: 'what it is from now on' }],
  },
)

export type ChangePasswordBody = Static<typeof ChangePassword>
