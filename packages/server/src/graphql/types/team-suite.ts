// Clients name these types in their queries of `node`, which would be refused without them. Suites here belong to no team, so
// no object has them.
import type { Part } from '../node.ts'

export const teamSuitePart: Part = {
  sdl: /* GraphQL */ `
    type Suite implements Node {
      id: ID!
      name: String!
      slug: String!
      uuid: ID!
    }
    "Suites belong to no team here, so there is none."
    type TeamSuite implements Node {
      accessLevel: SuiteAccessLevels!
      id: ID!
      suite: Suite
      team: Team
      uuid: ID!
    }
    enum SuiteAccessLevels {
      MANAGE_AND_READ
      READ_ONLY
    }
  `,
}
