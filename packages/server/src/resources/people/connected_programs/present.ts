import type { Static } from 'typebox'
import type { ProgramRow } from './queries.ts'
import type { ConnectedProgram } from './schema.ts'

export const presentProgram = (row: ProgramRow): Static<typeof ConnectedProgram> => ({
  id: row.id,
  program: row.program,
  user: { id: row.user_id, name: row.user_name, email: row.user_email },
  scopes: row.scopes,
  reaches_others: row.reaches_others,
  created_at: row.created_at,
  expires_at: row.expires_at,
  last_used_at: row.last_used_at,
})
