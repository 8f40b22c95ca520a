import { Type } from 'typebox'

export const Emoji = Type.Object(
  {
    name: Type.String({ examples: ['rocket'] }),
    url: Type.String(),
    aliases: Type.Optional(Type.Array(Type.String())),
  },
  { title: 'Emoji' },
)
