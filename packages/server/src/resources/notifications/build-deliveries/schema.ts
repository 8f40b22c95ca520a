import { Type } from 'typebox'
import { DeliveryState } from '../deliveries/schema.ts'
import { orNull, Timestamp, Uuid } from '../../schema.ts'

const Text = Type.String()

const fields = {
  id: Uuid,
  url: Text,
  build_url: Text,
  kind: Type.Union(
    [
      Type.Literal('email'),
      Type.Literal('webhook'),
      Type.Literal('slack'),
      Type.Literal('basecamp_campfire'),
      Type.Literal('pagerduty_change_event'),
    ],
    { description: 'As `notify` calls it.' },
  ),
  to: Type.String({
    description: 'The address, channel or URL. What in it may be a secret is masked.',
    examples: ['dev@example.com'],
  }),
  event: Type.String({ examples: ['build.finished'] }),
  state: DeliveryState,
  attempts_count: Type.Integer(),
  error: orNull(Type.String({ description: 'Why the last attempt failed.' })),
  next_attempt_at: orNull(Timestamp),
  occurred_at: Timestamp,
  created_at: Timestamp,
  finished_at: orNull(Timestamp),
}

export const BuildDelivery = Type.Object(fields, { title: 'BuildDelivery' })

export const BuildAttempt = Type.Object(
  {
    number: Type.Integer(),
    started_at: Timestamp,
    duration_ms: Type.Integer(),
    status: orNull(
      Type.Integer({ description: 'Of the last answer over HTTP; null when there was none, as with mail.' }),
    ),
    error: orNull(Type.String({ description: 'What went wrong; null: it arrived.' })),
  },
  { title: 'BuildDeliveryAttempt' },
)

export const WholeBuildDelivery = Type.Object(
  { ...fields, attempts: Type.Array(BuildAttempt) },
  { title: 'BuildDeliveryWithAttempts' },
)
