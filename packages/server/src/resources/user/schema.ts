import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../schema.ts'

export const User = Type.Object(
  {
    id: Uuid,
    graphql_id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    avatar_url: Type.String({ format: 'uri' }),
    created_at: Timestamp,
  },
  { title: 'User' },
)

export const UserOrNull = orNull(User)

/** A user in the short form that invitations and secrets show. */
export const PersonOrNull = orNull(Type.Object({ id: Uuid, name: Type.String(), email: Type.String() }))
