import type { Static } from 'typebox'
import type { CacheRow } from './queries.ts'
import type { Cache } from './schema.ts'

export const presentCache = (cache: CacheRow): Static<typeof Cache> => ({
  id: cache.id,
  name: cache.name,
  branch: cache.branch,
  platform: cache.platform,
  paths: cache.paths,
  file_count: cache.file_count,
  size_bytes: cache.size_bytes,
  stored_bytes: cache.stored_bytes,
  job_id: cache.job_id,
  saved_at: cache.saved_at,
  used_at: cache.used_at,
})
