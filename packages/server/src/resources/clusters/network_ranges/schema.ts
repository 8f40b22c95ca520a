import { Type } from 'typebox'
import { text } from '../../schema.ts'

export const NetworkRange = Type.Object(
  {
    cidr_range: text('Range of addresses.'),
    kind: text('What the addresses are used for.'),
  },
  { title: 'NetworkRange' },
)
