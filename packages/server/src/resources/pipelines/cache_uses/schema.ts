import { Type } from 'typebox'
import { count } from '../../schema.ts'

export const CacheUses = Type.Object(
  {
    day: Type.String({ format: 'date', description: 'The day, in UTC.', examples: ['2026-01-02'] }),
    hits: count('How often a job asked for a cache and found one, also that of another branch.'),
    misses: count('How often a job asked for a cache and found none.'),
  },
  { title: 'CacheUses' },
)
