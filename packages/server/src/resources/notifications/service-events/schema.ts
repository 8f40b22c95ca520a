import { Type } from 'typebox'
import { Timestamp, Uuid } from '../../schema.ts'

const LoggedEvent = Type.Object(
  {
    id: Uuid,
    occurred_at: Timestamp,
    event: Type.String({ examples: ['build.finished'] }),
  },
  {
    title: 'LoggedEvent',
    additionalProperties: true,
    description: 'Beside these fields, what a webhook of the latest version is sent of the event.',
  },
)

export const LoggedEventList = Type.Object(
  {
    items: Type.Array(LoggedEvent),
    links: Type.Object({
      self: Type.String(),
      first: Type.Optional(Type.String()),
      prev: Type.Optional(Type.String()),
      next: Type.Optional(
        Type.String({ description: 'Where to go on; there even when nothing has followed yet.' }),
      ),
    }),
  },
  { title: 'LoggedEventList' },
)
