import { Type } from 'typebox'
import { orNull, text, Timestamp, Uuid } from '../../schema.ts'

export const AccessToken = Type.Object(
  {
    uuid: Uuid,
    scopes: Type.Array(Type.String(), { description: 'What the token may be used for.' }),
    description: text('What its owner calls the token.'),
    created_at: Timestamp,
    expires_at: orNull(Timestamp),
    user: Type.Object({ name: Type.String(), email: Type.String() }, { description: 'Whose token it is.' }),
  },
  { title: 'AccessToken' },
)
