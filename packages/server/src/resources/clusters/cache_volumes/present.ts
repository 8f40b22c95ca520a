import type { Static } from 'typebox'
import type { CacheVolumeRow } from './queries.ts'
import type { CacheVolume } from './schema.ts'

export const presentVolume = (volume: CacheVolumeRow): Static<typeof CacheVolume> => ({
  id: volume.id,
  tag: volume.tag,
  cluster_id: volume.cluster_id,
  size_mb: volume.size_mb,
  created_at: volume.created_at,
  attached_at: volume.attached_at,
  detached_at: volume.detached_at,
})
