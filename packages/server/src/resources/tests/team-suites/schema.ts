import { Type, type Static } from 'typebox'
import { TeamActor } from '../../clusters/clusters/schema.ts'
import { described, oneOf, text, Timestamp, uuid, Uuid } from '../../schema.ts'

const Levels = Type.Array(oneOf(['read', 'edit']), {
  minItems: 1,
  maxItems: 2,
  description:
    'What the members of the team may do with the suite: `read`, and with `edit` change and delete it.',
})

export const TeamSuite = Type.Object(
  {
    suite_id: uuid('UUID of the suite.'),
    suite_url: text('Address of the suite in the API.'),
    access_level: Levels,
    created_at: Timestamp,
  },
  { title: 'TeamSuite' },
)

export const SuiteTeam = Type.Object(
  {
    team: described(TeamActor, 'UUID of a team of the organization.'),
    access_level: Levels,
    created_at: Timestamp,
  },
  { title: 'SuiteTeam' },
)

export const CreateTeamSuite = Type.Object(
  {
    suite_id: Type.Union([Uuid], { description: 'UUID of the suite.' }),
    access_level: Levels,
  },
  {
    title: 'CreateTeamSuite',
    examples: [{ suite_id: '01885682-55a7-44f5-84f3-0402fb452e66', access_level: ['read'] }],
  },
)

export const UpdateTeamSuite = Type.Object(
  { access_level: Levels },
  { title: 'UpdateTeamSuite', examples: [{ access_level: ['read', 'edit'] }] },
)

export type CreateTeamSuiteBody = Static<typeof CreateTeamSuite>
export type AccessLevels = Static<typeof Levels>
