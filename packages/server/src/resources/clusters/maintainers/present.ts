import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import type { MaintainerRow } from './queries.ts'
import type { Maintainer } from './schema.ts'

export function presentMaintainer({ id, user, team }: MaintainerRow): Static<typeof Maintainer> {
  if (user !== null) return { id, actor: { ...user, graphql_id: graphqlId('User', user.id), type: 'user' } }
  if (team !== null) return { id, actor: { ...team, graphql_id: graphqlId('Team', team.id), type: 'team' } }
  throw new Error(`Maintainer ${id} is neither a user nor a team.`)
}
