import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

export const AccessToken = Type.Object(
  {
    uuid: Uuid,
    scopes: Type.Array(Type.String()),
    description: Type.String(),
    created_at: Timestamp,
    expires_at: orNull(Timestamp),
    user: Type.Object({ name: Type.String(), email: Type.String() }),
  },
  { title: 'AccessToken' },
)
