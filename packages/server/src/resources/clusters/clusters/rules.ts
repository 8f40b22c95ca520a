import { validationFailed } from '../../../lib/errors.ts'
import type { ClusterFields, ClusterRow } from './queries.ts'
import type { UpdateClusterBody } from './schema.ts'

/** The fields that a body sets, as columns. An empty emoji or color becomes null. */
export function readFields(
  body: Pick<UpdateClusterBody, 'name' | 'description' | 'emoji' | 'color'>,
): Partial<ClusterFields> {
  return {
    ...(body.name === undefined ? {} : { name: body.name }),
    ...(body.description === undefined ? {} : { description: body.description ?? '' }),
    ...(body.emoji === undefined ? {} : { emoji: body.emoji || null }),
    ...(body.color === undefined ? {} : { color: body.color || null }),
  }
}

export const cacheFieldNames = ['hosted_git_mirror_enabled', 'hosted_container_cache_enabled'] as const
export type CacheFieldName = (typeof cacheFieldNames)[number]
export type CacheFields = Record<CacheFieldName, boolean>

/** The cache fields whose value the body changes. Only a hosted cluster has caches. */
export function readCacheFields(cluster: ClusterRow, body: UpdateClusterBody): Partial<CacheFields> {
  const changed: Partial<CacheFields> = {}
  for (const name of cacheFieldNames) {
    const wanted = body[name]
    if (wanted !== undefined && wanted !== cluster[name]) changed[name] = wanted
  }
  const [first] = Object.keys(changed)
  if (first !== undefined && !cluster.hosted) {
    throw validationFailed(`${first} can only be changed on a hosted cluster`)
  }
  return changed
}
