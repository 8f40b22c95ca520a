import type { Static } from 'typebox'
import type { UsesRow } from './queries.ts'
import type { CacheUses } from './schema.ts'

export const presentUses = ({ day, hits, misses }: UsesRow): Static<typeof CacheUses> => ({
  day: day.slice(0, 10),
  hits,
  misses,
})
