import { Type } from 'typebox'
import { integer, orNull, text, timestamp } from '../../schema.ts'

export const RepositoryHealth = Type.Object(
  {
    last_delivery: orNull(
      Type.Object({
        received_at: timestamp('When it came.'),
        event: text("The host's name of the event."),
        status: integer('Status of the answer. 401: the signature was wrong.'),
        message: text('What the answer said.'),
      }),
      'The newest delivery to the address of the webhook, also a refused one; null if none came.',
    ),
    reconciled_at: orNull(
      timestamp('When the repository was last asked for its branches and tags with success.'),
    ),
    next_reconcile_at: orNull(
      timestamp('When it is asked next; null: not before the first delivery, or not at all.'),
    ),
    reconcile_error: orNull(text('Why the repository could not be asked the last time.')),
    refs_waiting: integer(
      'Branches and tags that have moved, beyond the 200 that are built each time the repository is asked. It is asked again at once.',
    ),
    pushes_last_7_days: integer('Pushes that were heard of in the last 7 days.'),
    pushes_without_delivery_last_7_days: integer(
      'Those of them that were found in the repository, and of which no delivery told.',
    ),
  },
  { title: 'RepositoryHealth' },
)
