import { Type } from 'typebox'
import { text } from '../../schema.ts'

export const Emoji = Type.Object(
  {
    name: Type.String({ examples: ['rocket'], description: 'Name of the emoji, as between colons.' }),
    url: text('Address of the image.'),
    aliases: Type.Optional(Type.Array(Type.String(), { description: 'Other names of the emoji.' })),
  },
  { title: 'Emoji' },
)
