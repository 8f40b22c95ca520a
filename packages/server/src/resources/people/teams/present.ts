import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import { presentUserOrNull } from '../user/present.ts'
import type { TeamRow } from './queries.ts'
import type { Team } from './schema.ts'

export function presentTeam(url: string, team: TeamRow): Static<typeof Team> {
  const { id, is_default_team, created_by, ...fields } = team
  return {
    id,
    graphql_id: graphqlId('Team', id),
    ...fields,
    default: is_default_team,
    is_default_team,
    created_by: presentUserOrNull(url, created_by),
  }
}
