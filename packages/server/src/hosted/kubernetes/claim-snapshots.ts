// What is kept of volumes, for storage that can copy a volume and makes no snapshots: the claim stays. Its labels say
// what it is there for; it goes when that is nothing.
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { capacityMb, deleteClaim, findClaim, isLeaving, listClaims } from './claims.ts'
import { label, unlessGone, type Cluster } from './cluster.ts'
import type { Keeping, Kept } from './volumes.ts'

const attachedLabel = 'millrace.attached'
export const keptLabel = 'millrace.kept'
export const dropped = { [keptLabel]: 'dropped' }

export const setAttached = (isIt: boolean): Record<string, string> => ({ [attachedLabel]: String(isIt) })

export const isAttached = (claim: V1PersistentVolumeClaim): boolean =>
  claim.metadata?.labels?.[attachedLabel] === 'true' && !isLeaving(claim)

const isKept = (claim: V1PersistentVolumeClaim): boolean =>
  claim.metadata?.labels?.[keptLabel] === 'true' && !isLeaving(claim)

export function claimKeeping(cluster: Cluster): Keeping {
  return {
    async find(name) {
      const claim = await findClaim(cluster, name)
      return claim !== null && isKept(claim) ? read(claim) : null
    },
    list: async () => (await listClaims(cluster, 'volume')).filter(isKept).map(read),
    keep: (claim) => patchLabels(cluster, claim, { [keptLabel]: 'true' }),
    async delete(name) {
      const claim = await findClaim(cluster, name)
      if (claim !== null && isKept(claim)) await deleteUnused(cluster, claim, dropped)
    },
    tidy: async () => {},
  }
}

const read = (claim: V1PersistentVolumeClaim): Kept => ({
  id: claim.metadata?.labels?.[label.id] ?? '',
  clusterId: claim.metadata?.labels?.[label.cluster] ?? '',
  sizeMb: capacityMb(claim),
  source: { kind: 'PersistentVolumeClaim', name: claim.metadata?.name ?? '' },
})

/** Deletes a claim that would be there for nothing after this change of its labels. */
export async function deleteUnused(
  cluster: Cluster,
  claim: V1PersistentVolumeClaim,
  change: Record<string, string>,
): Promise<void> {
  const { name = '', labels = {} } = claim.metadata ?? {}
  const changed = { ...labels, ...change }
  const isNeeded =
    changed[attachedLabel] === 'true' ||
    changed[keptLabel] === 'true' ||
    (changed[keptLabel] === 'dropped' && (await hasWaitingCopies(cluster, name)))
  if (isNeeded) await patchLabels(cluster, claim, change)
  else await deleteClaim(cluster, name)
}

/** Whether the storage has yet to make a copy of what has this name. */
export async function hasWaitingCopies(cluster: Cluster, name: string): Promise<boolean> {
  const claims = await listClaims(cluster, 'volume')
  return claims.some(
    (claim) =>
      claim.spec?.dataSource?.name === name && claim.status?.phase === 'Pending' && !isLeaving(claim),
  )
}

async function patchLabels(
  cluster: Cluster,
  { metadata }: V1PersistentVolumeClaim,
  labels: Record<string, string>,
): Promise<void> {
  const name = metadata?.name ?? ''
  const request = { namespace: cluster.namespace, name, body: { metadata: { labels } } }
  await cluster
    .ask((options) => cluster.core.patchNamespacedPersistentVolumeClaim(request, options))
    .then(() => {}, unlessGone)
}

/** Those that only waited for copies to be made. */
export async function deleteLeftClaims(cluster: Cluster): Promise<void> {
  const claims = await listClaims(cluster, 'volume')
  for (const claim of claims.filter((one) => !isLeaving(one) && !isAttached(one) && !isKept(one))) {
    await deleteUnused(cluster, claim, {})
  }
}
