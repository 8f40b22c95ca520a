import type { Static } from 'typebox'
import type { ServiceAccountRow } from './queries.ts'
import type { ServiceAccount } from './schema.ts'

export const presentServiceAccount = (row: ServiceAccountRow): Static<typeof ServiceAccount> => ({
  id: row.id,
  name: row.name,
  description: row.description,
  role: row.role,
  owners: row.owners,
  has_owner: row.owners.length > 0,
  created_at: row.created_at,
})
