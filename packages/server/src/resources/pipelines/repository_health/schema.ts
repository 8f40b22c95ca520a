import { Type } from 'typebox'
import { integer, orNull, text, timestamp } from '../../schema.ts'

export const RepositoryHealth = Type.Object(
  {
    hook: Type.Object(
      {
        registered: orNull(
          Type.Boolean({
            description:
              'Whether the host says that the repository has the webhook, and that it is switched on. Null: the host was not asked, or did not say.',
          }),
        ),
        reason: orNull(
          text('Why it is not registered or not known, or what is wrong with it; with the way out.'),
        ),
        events: orNull(Type.Array(Type.String(), { description: 'What it sends, as the host names it.' })),
        url: text('The address that the host must have.'),
        has_secret: Type.Boolean({
          description:
            'Whether the connection has a webhook secret, which a webhook that a person adds must have. Deliveries without a right signature are then refused.',
        }),
        own_secret_created_at: orNull(
          timestamp(
            'When the host got the secret that Millrace made for this webhook alone; null: it has none. Deliveries without a right signature are refused while it has one.',
          ),
        ),
        instructions: text('Where a person adds the webhook at the host, and with which events.'),
        can_test: Type.Boolean({
          description: 'Whether the host can be asked to send its own test, by the connection.',
        }),
        checked_at: orNull(
          timestamp('When the host was asked. It is asked again for an answer older than 30 seconds.'),
        ),
      },
      { description: 'The webhook at the host of the repository, as the host says.' },
    ),
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
    pull_requests_read_at: orNull(
      timestamp(
        'When the host last listed its open pull requests; null: never, or it cannot be asked for them.',
      ),
    ),
    pull_requests_error: orNull(text('Why the host did not list its open pull requests the last time.')),
    pushes_last_7_days: integer('Pushes that were heard of in the last 7 days.'),
    pushes_without_delivery_last_7_days: integer(
      'Those of them that were found in the repository, and of which no delivery told.',
    ),
  },
  { title: 'RepositoryHealth' },
)
