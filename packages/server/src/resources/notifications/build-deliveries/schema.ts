import { Type } from 'typebox'
import { DeliveryState } from '../services/schema.ts'
import { integer, oneOf, orNull, text, Timestamp, timestamp, Uuid } from '../../schema.ts'

const Text = Type.String()

const fields = {
  id: Uuid,
  url: Text,
  build_url: Text,
  kind: oneOf(
    ['email', 'webhook', 'slack', 'basecamp_campfire', 'pagerduty_change_event'],
    'As `notify` calls it.',
  ),
  to: Type.String({
    description: 'The address, channel or URL. What in it may be a secret is masked.',
    examples: ['dev@example.com'],
  }),
  event: Type.String({ examples: ['build.finished'], description: 'Name of the event.' }),
  state: DeliveryState,
  attempts_count: integer('How often it was tried.'),
  error: orNull(text('Why the last attempt failed.')),
  next_attempt_at: orNull(timestamp('When it is tried again; null when it is not.')),
  occurred_at: Timestamp,
  created_at: timestamp('When the delivery was written down.'),
  finished_at: orNull(Timestamp),
}

export const BuildDelivery = Type.Object(fields, { title: 'BuildDelivery' })

export const BuildAttempt = Type.Object(
  {
    number: integer('Which attempt it was, from 1.'),
    started_at: timestamp('When the attempt began.'),
    duration_ms: integer('How long it took, in milliseconds.'),
    status: orNull(integer('Of the last answer over HTTP; null when there was none, as with mail.')),
    error: orNull(text('What went wrong; null: it arrived.')),
  },
  { title: 'BuildDeliveryAttempt' },
)

export const WholeBuildDelivery = Type.Object(
  {
    ...fields,
    created_at: Timestamp,
    attempts: Type.Array(BuildAttempt, { description: 'The attempts, oldest first.' }),
  },
  { title: 'BuildDeliveryWithAttempts' },
)
