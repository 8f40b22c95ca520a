import { Type } from 'typebox'
import { Timestamp } from '../user/schema.ts'

export const AccessToken = Type.Object(
  {
    uuid: Type.String({ format: 'uuid' }),
    scopes: Type.Array(Type.String()),
    description: Type.String(),
    created_at: Timestamp,
    expires_at: Type.Union([Timestamp, Type.Null()]),
    user: Type.Object({ name: Type.String(), email: Type.String() }),
  },
  { title: 'AccessToken' },
)
