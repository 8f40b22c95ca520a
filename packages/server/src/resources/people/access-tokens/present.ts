import type { Static } from 'typebox'
import type { Caller } from '../../../auth/caller.ts'
import type { UserTokenRow } from './queries.ts'
import type { UserAccessToken } from './schema.ts'

export const presentUserToken = (caller: Caller, row: UserTokenRow): Static<typeof UserAccessToken> => ({
  id: row.id,
  description: row.description,
  scopes: row.scopes,
  organization_slugs: row.organization_slugs,
  created_at: row.created_at,
  expires_at: row.expires_at,
  last_used_at: row.last_used_at,
  last_used_ip: row.last_used_ip,
  program: row.program,
  is_machine: row.is_machine,
  current: row.id === caller.token.id,
})
