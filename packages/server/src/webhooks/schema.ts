import { Type, type Static } from 'typebox'
import { boolean, integer, orNull, text, Uuid } from '../resources/schema.ts'

const Text = Type.String()

const Outcome = Type.Object({
  ref: orNull(text('The branch or tag it is about.')),
  result: Type.Union([Type.Literal('built'), Type.Literal('ignored'), Type.Literal('canceled')], {
    description: 'Whether builds were made or canceled, or nothing was done.',
  }),
  reason: orNull(text('Why nothing was built.')),
  builds: Type.Array(
    Type.Object({ id: Uuid, number: integer('Number of the build within its pipeline.'), web_url: Text }),
    {
      description: 'Those made, or canceled.',
    },
  ),
})
export type Outcome = Static<typeof Outcome>

export const DeliveryAnswer = Type.Object(
  {
    message: text('What was done, or why nothing was.'),
    outcomes: Type.Array(Outcome, { description: 'What was done, for each branch or tag.' }),
    replayed: boolean('Received before: this is what was done then.'),
  },
  { title: 'DeliveryAnswer' },
)
export type DeliveryAnswer = Static<typeof DeliveryAnswer>
