import { Type } from 'typebox'

export const Greeting = Type.Object(
  {
    message: Type.String(),
    timestamp: Type.Integer({ description: 'Unix seconds, by the clock of the server.' }),
  },
  { title: 'Greeting' },
)
