import { Type, type Static } from 'typebox'
import { orNull, Uuid } from '../resources/schema.ts'

const Text = Type.String()

const Outcome = Type.Object({
  ref: orNull(Type.String({ description: 'The branch or tag it is about.' })),
  result: Type.Union([Type.Literal('built'), Type.Literal('ignored'), Type.Literal('canceled')]),
  reason: orNull(Type.String({ description: 'Why nothing was built.' })),
  builds: Type.Array(Type.Object({ id: Uuid, number: Type.Integer(), web_url: Text }), {
    description: 'Those made, or canceled.',
  }),
})
export type Outcome = Static<typeof Outcome>

export const DeliveryAnswer = Type.Object(
  {
    message: Type.String({ description: 'What was done, or why nothing was.' }),
    outcomes: Type.Array(Outcome),
    replayed: Type.Boolean({ description: 'Received before: this is what was done then.' }),
  },
  { title: 'DeliveryAnswer' },
)
export type DeliveryAnswer = Static<typeof DeliveryAnswer>
