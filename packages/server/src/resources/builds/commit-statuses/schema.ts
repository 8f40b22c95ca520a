import { Type } from 'typebox'
import { integer, oneOf, orNull, text, timestamp, Uuid } from '../../schema.ts'

const Text = Type.String()

export const CommitStatus = Type.Object(
  {
    id: Uuid,
    context: text('Name that the host shows beside the state.'),
    state: oneOf(
      ['pending', 'running', 'success', 'failure', 'canceled', 'skipped'],
      'State that is published on the host.',
    ),
    description: text('Short text that the host shows.'),
    commit: Text,
    changed_at: Type.String({
      format: 'date-time',
      description: 'When the status changed, or was last sent again.',
    }),
    delivered_at: orNull(timestamp('When the host had it; null before that.')),
    attempts: integer('That failed, of the state as it is now.'),
    next_attempt_at: orNull(
      Type.String({ format: 'date-time', description: 'Null when it is delivered or given up.' }),
    ),
    error: orNull(text('Why the last attempt failed.')),
  },
  { title: 'CommitStatus' },
)
