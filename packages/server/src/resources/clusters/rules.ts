import { validationFailed } from '../../lib/errors.ts'
import type { ClusterFields, ClusterRow } from './queries.ts'
import type { UpdateClusterBody } from './schema.ts'

/** The plain fields that a body sets. An empty emoji or color is none. */
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

export const switchNames = ['hosted_git_mirror_enabled', 'hosted_container_cache_enabled'] as const
export type SwitchName = (typeof switchNames)[number]
export type CacheSwitches = Record<SwitchName, boolean>

/** The cache switches that a body really changes. Only a hosted cluster has anything to switch. */
export function changedSwitches(cluster: ClusterRow, body: UpdateClusterBody): Partial<CacheSwitches> {
  const changed: Partial<CacheSwitches> = {}
  for (const key of switchNames) {
    const wanted = body[key]
    if (wanted !== undefined && wanted !== cluster[key]) changed[key] = wanted
  }
  const [first] = Object.keys(changed)
  if (first !== undefined && !cluster.hosted) {
    throw validationFailed(`${first} can only be changed on a hosted cluster`)
  }
  return changed
}
