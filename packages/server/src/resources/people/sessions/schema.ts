import { Type } from 'typebox'
import { boolean, oneOf, orNull, text, Timestamp, Uuid } from '../../schema.ts'

export const UserSession = Type.Object(
  {
    id: Uuid,
    opened_with: oneOf(['password', 'link', 'sso', 'token'], 'How the person signed in.'),
    ip: Type.Union([Type.String(), Type.Null()], { description: 'From where it was opened.' }),
    user_agent: orNull(text('Name and version of the program, as it gives them.')),
    created_at: Timestamp,
    last_used_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When it was last used, to the minute.',
    }),
    last_used_ip: Type.Union([Type.String(), Type.Null()], { description: 'From where it was last used.' }),
    expires_at: Timestamp,
    current: boolean('Whether the request was made with this session.'),
  },
  { title: 'UserSession' },
)
