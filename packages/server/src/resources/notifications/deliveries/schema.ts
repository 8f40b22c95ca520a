import { Type } from 'typebox'
import { CursorLinks, orNull, Timestamp, Uuid } from '../../schema.ts'

const Headers = Type.Record(Type.String(), Type.String())

const Exchange = Type.Object(
  {
    request: Type.Object({
      method: Type.String(),
      url: Type.String(),
      headers: Headers,
      body_bytes: Type.Integer(),
      body_sha256: Type.String({ description: 'Of the body as it was sent, to compare with the payload.' }),
    }),
    response: orNull(
      Type.Object({
        status: Type.Integer(),
        headers: Headers,
        body: Type.String({ description: 'The head of the body.' }),
        is_cut: Type.Boolean({ description: 'There was more of it.' }),
      }),
    ),
    duration_ms: Type.Integer(),
    error: orNull(Type.String()),
  },
  { title: 'NotificationExchange' },
)

export const Attempt = Type.Object(
  {
    number: Type.Integer(),
    started_at: Timestamp,
    duration_ms: Type.Integer(),
    status: orNull(Type.Integer({ description: 'Of the last answer; null when there was none.' })),
    error: orNull(Type.String({ description: 'What went wrong; null: it arrived.' })),
    exchanges: Type.Array(Exchange),
  },
  { title: 'NotificationAttempt' },
)

export const DeliveryState = Type.Union(
  [Type.Literal('pending'), Type.Literal('delivered'), Type.Literal('dead'), Type.Literal('discarded')],
  {
    description:
      '`pending`: not yet, or to be tried again. `dead`: given up. `discarded`: the service was disabled before.',
  },
)

const fields = {
  id: Uuid,
  url: Type.String(),
  service_url: Type.String(),
  event: Type.String({ examples: ['build.finished'] }),
  state: DeliveryState,
  attempts_count: Type.Integer(),
  next_attempt_at: orNull(Timestamp),
  build_url: orNull(Type.String()),
  occurred_at: Timestamp,
  created_at: Timestamp,
  finished_at: orNull(Timestamp),
}

export const Delivery = Type.Object(fields, { title: 'NotificationDelivery' })

export const WholeDelivery = Type.Object(
  {
    ...fields,
    payload: orNull(
      Type.String({
        description:
          'The body that is sent, with the settings as they are now; null when it is not known beforehand.',
      }),
    ),
    attempts: Type.Array(Attempt),
  },
  { title: 'NotificationDeliveryWithAttempts' },
)

export const DeliveryList = Type.Object(
  {
    items: Type.Array(Delivery),
    links: CursorLinks,
  },
  { title: 'NotificationDeliveryList' },
)
