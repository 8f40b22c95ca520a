import { Type } from 'typebox'
import {
  boolean,
  cursorList,
  described,
  integer,
  orNull,
  text,
  Timestamp,
  timestamp,
  Uuid,
} from '../../schema.ts'
import { DeliveryState } from '../services/schema.ts'

const Headers = described(Type.Record(Type.String(), Type.String()), 'Headers by name.')

const DurationMs = integer('How long it took, in milliseconds.')

const Exchange = Type.Object(
  {
    request: Type.Object(
      {
        method: text('Method of the request.'),
        url: text('Address that was asked. Secrets in it are masked.'),
        headers: Headers,
        body_bytes: integer('Length of the body in bytes.'),
        body_sha256: text('Of the body as it was sent, to compare with the payload.'),
      },
      { description: 'What was sent. Secrets are masked.' },
    ),
    response: orNull(
      Type.Object({
        status: integer('Status of the answer.'),
        headers: Headers,
        body: text('The head of the body.'),
        is_cut: boolean('There was more of it.'),
      }),
      'What was answered; null when nothing was.',
    ),
    duration_ms: DurationMs,
    error: orNull(text('Why there was no answer; null when there was one.')),
  },
  { title: 'NotificationExchange' },
)

export const Attempt = Type.Object(
  {
    number: integer('Which attempt it was, from 1.'),
    started_at: timestamp('When the attempt began.'),
    duration_ms: DurationMs,
    status: orNull(integer('Of the last answer; null when there was none.')),
    error: orNull(text('What went wrong; null: it arrived.')),
    exchanges: Type.Array(Exchange, { description: 'The requests of the attempt, in order.' }),
  },
  { title: 'NotificationAttempt' },
)

const fields = {
  id: Uuid,
  url: Type.String(),
  service_url: text('Address of the notification service in the API.'),
  event: Type.String({ examples: ['build.finished'], description: 'Name of the event.' }),
  state: DeliveryState,
  attempts_count: integer('How often it was tried.'),
  next_attempt_at: orNull(timestamp('When it is tried again; null when it is not.')),
  build_url: orNull(text('Address of the build in the API; null when the event is about none.')),
  occurred_at: Timestamp,
  created_at: Timestamp,
  finished_at: orNull(Timestamp),
}

export const Delivery = Type.Object(fields, { title: 'NotificationDelivery' })

export const WholeDelivery = Type.Object(
  {
    ...fields,
    build_url: orNull(Type.String()),
    payload: orNull(
      text('The body that is sent, with the settings as they are now; null when it is not known beforehand.'),
    ),
    attempts: Type.Array(Attempt, { description: 'The attempts, oldest first.' }),
  },
  { title: 'NotificationDeliveryWithAttempts' },
)

export const DeliveryList = cursorList(Delivery, 'NotificationDeliveryList')
