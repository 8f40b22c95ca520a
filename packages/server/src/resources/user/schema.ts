import { Type } from 'typebox'

export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] })

export const User = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    graphql_id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    avatar_url: Type.String({ format: 'uri' }),
    created_at: Timestamp,
  },
  { title: 'User' },
)

export const UserOrNull = Type.Union([User, Type.Null()])
