// Labels on every object that an installation creates in an engine, which other installations may share.
import type { SharedKind, SharedVolumes } from './driver.ts'

export const label = {
  installation: 'millrace.installation',
  kind: 'millrace.kind',
  cluster: 'millrace.cluster',
  id: 'millrace.id',
} as const

export type Kind =
  | 'build'
  | 'container'
  /** An image with the runner in it. */
  | 'equipped'
  | 'helper'
  | 'image'
  | 'network'
  | 'policy'
  | 'probe'
  | 'runner'
  | 'shared'
  | 'volume'

export type Labels = Record<string, string>

export const labels = (
  { installationId }: { installationId: string },
  kind: Kind,
  clusterId: string,
  id: string,
): Labels => ({
  [label.installation]: installationId,
  [label.kind]: kind,
  [label.cluster]: clusterId,
  [label.id]: id,
})

export const isOurs = (
  { installationId }: { installationId: string },
  found: Labels | null | undefined,
): boolean => found?.[label.installation] === installationId

/** Reads the labels of all volumes of kind `shared`, whose id is their SharedKind. */
export function readSharedVolumes(found: readonly Labels[]): SharedVolumes[] {
  const clusterIds = new Set(found.map((marks) => marks[label.cluster] ?? ''))
  return [...clusterIds].map((clusterId) => {
    const has = (kind: SharedKind) =>
      found.some((marks) => marks[label.cluster] === clusterId && marks[label.id] === kind)
    return { clusterId, gitMirror: has('git_mirror'), containerCache: has('container_cache') }
  })
}
