import { Type } from 'typebox'
import { integer, orNull, text, timestamp, Uuid } from '../../schema.ts'

const fields = {
  id: Uuid,
  url: Type.String(),
  received_at: timestamp('When it was received.'),
  status: integer('The status that the sender got.'),
  message: text('What was done, or why nothing was.'),
  build: orNull(
    Type.Object({
      id: Uuid,
      number: integer('Number of the build within its pipeline.'),
      url: Type.String(),
    }),
    'The build; null where none was made.',
  ),
  body_bytes: integer('Length of the body.'),
}

export const TriggerDelivery = Type.Object(fields, { title: 'TriggerDelivery' })

export const WholeTriggerDelivery = Type.Object(
  {
    ...fields,
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the request. Those that may hold a secret are `[redacted]`.',
    }),
    body: text('Body of the request; of a long one the first 64 KiB.'),
  },
  { title: 'WholeTriggerDelivery' },
)
