import { Type } from 'typebox'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

const Text = Type.String()

export const CommitStatus = Type.Object(
  {
    id: Uuid,
    context: Text,
    state: Type.Union([
      Type.Literal('pending'),
      Type.Literal('running'),
      Type.Literal('success'),
      Type.Literal('failure'),
      Type.Literal('canceled'),
      Type.Literal('skipped'),
    ]),
    description: Text,
    commit: Text,
    changed_at: Type.String({
      format: 'date-time',
      description: 'When the status changed, or was last sent again.',
    }),
    delivered_at: orNull(Timestamp),
    attempts: Type.Integer({ description: 'That failed, of the state as it is now.' }),
    next_attempt_at: orNull(
      Type.String({ format: 'date-time', description: 'Null when it is delivered or given up.' }),
    ),
    error: orNull(Type.String({ description: 'Why the last attempt failed.' })),
  },
  { title: 'CommitStatus' },
)
