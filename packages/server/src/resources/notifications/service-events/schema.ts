import { Type } from 'typebox'
import { CursorLinks, text, Timestamp, Uuid } from '../../schema.ts'

const LoggedEvent = Type.Object(
  {
    id: Uuid,
    occurred_at: Timestamp,
    event: Type.String({ examples: ['build.finished'], description: 'Name of the event.' }),
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
    links: Type.Object(
      {
        ...CursorLinks.properties,
        next: Type.Optional(text('Where to go on; there even when nothing has followed yet.')),
      },
      { description: 'Links to this page and its neighbours; the `Link` header repeats them.' },
    ),
  },
  { title: 'LoggedEventList' },
)
