import type { Static } from 'typebox'
import type { HitRow } from './queries.ts'
import type { SearchHit } from './schema.ts'

export const presentHit = (
  url: string,
  { type, title, subtitle, path }: HitRow,
): Static<typeof SearchHit> => ({
  type,
  title,
  subtitle,
  web_url: `${url}${path}`,
})
