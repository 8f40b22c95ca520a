import { Type } from 'typebox'
import { text, Uuid } from '../../schema.ts'

export const mostBuilds = 8

export const EventsQuery = {
  after: Type.Optional(
    text(
      'A cursor: the events continue where the response with it ends. Without it they begin now, and the first has the cursor.',
    ),
  ),
  build: Type.Optional(
    Type.Array(Uuid, {
      description: `UUIDs of up to ${mostBuilds} builds whose jobs and graphs are wanted, as \`build=…&build=…\`.`,
    }),
  ),
}
