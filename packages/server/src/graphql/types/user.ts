import type { Part, Thing } from '../node.ts'

export const userPart: Part = {
  sdl: /* GraphQL */ `
    type User implements Node {
      avatar: Avatar!
      email: String!
      id: ID!
      name: String!
      uuid: String!
    }
    type Avatar {
      url: String!
    }
  `,
  resolvers: {
    User: { avatar: async (user: Thing) => ({ url: await user.text('avatar_url') }) },
  },
}
