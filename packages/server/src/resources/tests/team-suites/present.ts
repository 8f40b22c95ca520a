import type { Static } from 'typebox'
import { graphqlId } from '../../../lib/ids.ts'
import type { SuiteAccess } from '../suites/give-to-teams.ts'
import { suiteUrl } from '../suites/present.ts'
import type { SuiteTeamRow, TeamSuiteRow } from './queries.ts'
import type { AccessLevels, SuiteTeam, TeamSuite } from './schema.ts'

const presentLevel = (level: SuiteAccess): AccessLevels =>
  level === 'manage_and_read' ? ['read', 'edit'] : ['read']

export const readLevel = (levels: AccessLevels): SuiteAccess =>
  levels.includes('edit') ? 'manage_and_read' : 'read_only'

export const presentTeamSuite = (
  url: string,
  orgSlug: string,
  row: TeamSuiteRow,
): Static<typeof TeamSuite> => ({
  suite_id: row.suite_id,
  suite_url: suiteUrl(url, orgSlug, row.suite_slug),
  access_level: presentLevel(row.access_level),
  created_at: row.created_at,
})

export const presentSuiteTeam = (row: SuiteTeamRow): Static<typeof SuiteTeam> => ({
  team: {
    id: row.team_id,
    graphql_id: graphqlId('Team', row.team_id),
    name: row.team_name,
    slug: row.team_slug,
  },
  access_level: presentLevel(row.access_level),
  created_at: row.created_at,
})
