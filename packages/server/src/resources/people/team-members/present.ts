import type { Static } from 'typebox'
import type { TeamMemberRow } from './queries.ts'
import type { TeamMember } from './schema.ts'

export const presentTeamMember = (row: TeamMemberRow): Static<typeof TeamMember> => ({
  user_id: row.user_id,
  user_name: row.user_name,
  role: row.role,
  created_at: row.created_at,
})
