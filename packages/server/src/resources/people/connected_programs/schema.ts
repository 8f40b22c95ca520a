import { Type } from 'typebox'
import { boolean, orNull, text, Timestamp, uuid } from '../../schema.ts'

export const ConnectedProgram = Type.Object(
  {
    id: uuid('Id of the access token that the program has. Audit events name it.'),
    program: text('The program, as it calls itself.'),
    user: Type.Object(
      { id: uuid('The id of the user.'), name: Type.String(), email: Type.String() },
      { description: 'The member for whom it acts.' },
    ),
    scopes: Type.Array(Type.String(), { description: 'What the program may do.' }),
    reaches_others: boolean('Whether it may also act in other organizations of the member.'),
    created_at: Timestamp,
    expires_at: orNull(Timestamp),
    last_used_at: Type.Union([Timestamp, Type.Null()], {
      description: 'When it was last used, in any organization, to the minute.',
    }),
  },
  { title: 'ConnectedProgram' },
)
