import { Type } from 'typebox'
import { integer, text } from '../../schema.ts'

export const Greeting = Type.Object(
  {
    message: text('A greeting.'),
    timestamp: integer('Unix seconds, by the clock of the server.'),
  },
  { title: 'Greeting' },
)
