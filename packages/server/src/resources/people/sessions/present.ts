import type { Static } from 'typebox'
import type { Caller } from '../../../auth/caller.ts'
import type { UserSessionRow } from './queries.ts'
import type { UserSession } from './schema.ts'

export const presentUserSession = (caller: Caller, row: UserSessionRow): Static<typeof UserSession> => ({
  id: row.id,
  opened_with: row.opened_with,
  ip: row.ip,
  user_agent: row.user_agent,
  created_at: row.created_at,
  last_used_at: row.last_used_at,
  last_used_ip: row.last_used_ip,
  expires_at: row.expires_at,
  current: row.id === caller.session?.id,
})
