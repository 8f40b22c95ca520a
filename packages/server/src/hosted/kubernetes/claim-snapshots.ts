// Snapshots for storage that can clone a volume but has no snapshots: the claim itself is retained. Its labels say what it is
// needed for; when that is nothing, it is deleted.
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { ignoreNotFound } from '../engine-request.ts'
import { label, type Labels } from '../labels.ts'
import { capacityMb, deleteClaim, findClaim, isTerminating, listClaims } from './claims.ts'
import type { Cluster } from './cluster.ts'
import type { Snapshot, SnapshotStore } from './snapshot-store.ts'

const attachedLabel = 'millrace.attached'
export const keptLabel = 'millrace.kept'
/** Labels of a snapshot that was deleted while storage still had to copy it. */
export const deletedLabels = { [keptLabel]: 'dropped' }

export const attachedLabels = { [attachedLabel]: 'true' }
export const detachedLabels = { [attachedLabel]: 'false' }

export const isAttached = (claim: V1PersistentVolumeClaim): boolean =>
  claim.metadata?.labels?.[attachedLabel] === 'true' && !isTerminating(claim)

const isSnapshot = (claim: V1PersistentVolumeClaim): boolean =>
  claim.metadata?.labels?.[keptLabel] === 'true' && !isTerminating(claim)

export function claimSnapshots(cluster: Cluster): SnapshotStore {
  return {
    async find(name) {
      const claim = await findClaim(cluster, name)
      return claim !== null && isSnapshot(claim) ? read(claim) : null
    },
    list: async () => (await listClaims(cluster, 'volume')).filter(isSnapshot).map(read),
    create: (claim) => patchLabels(cluster, claim, { [keptLabel]: 'true' }),
    async delete(name) {
      const claim = await findClaim(cluster, name)
      if (claim !== null && isSnapshot(claim)) await updateOrDelete(cluster, claim, deletedLabels)
    },
    tidy: async () => {},
  }
}

const read = (claim: V1PersistentVolumeClaim): Snapshot => ({
  id: claim.metadata?.labels?.[label.id] ?? '',
  clusterId: claim.metadata?.labels?.[label.cluster] ?? '',
  sizeMb: capacityMb(claim),
  source: { kind: 'PersistentVolumeClaim', name: claim.metadata?.name ?? '' },
})

/** Changes the claim's labels, or deletes the claim if nothing needs it with the new labels. */
export async function updateOrDelete(
  cluster: Cluster,
  claim: V1PersistentVolumeClaim,
  change: Labels,
): Promise<void> {
  const { name = '', labels = {} } = claim.metadata ?? {}
  const changed = { ...labels, ...change }
  const isNeeded =
    changed[attachedLabel] === 'true' ||
    changed[keptLabel] === 'true' ||
    (changed[keptLabel] === deletedLabels[keptLabel] && (await hasPendingCopies(cluster, name)))
  if (isNeeded) await patchLabels(cluster, claim, change)
  else await deleteClaim(cluster, name)
}

/** Whether storage still has to make a copy of the snapshot with this name. */
export async function hasPendingCopies(cluster: Cluster, name: string): Promise<boolean> {
  const claims = await listClaims(cluster, 'volume')
  return claims.some(
    (claim) =>
      claim.spec?.dataSource?.name === name && claim.status?.phase === 'Pending' && !isTerminating(claim),
  )
}

async function patchLabels(
  cluster: Cluster,
  { metadata }: V1PersistentVolumeClaim,
  labels: Labels,
): Promise<void> {
  const name = metadata?.name ?? ''
  const request = { namespace: cluster.namespace, name, body: { metadata: { labels } } }
  await cluster
    .ask((options) => cluster.core.patchNamespacedPersistentVolumeClaim(request, options))
    .then(() => {}, ignoreNotFound)
}

/** Deletes claims that only waited for copies to be made. */
export async function deleteUnusedClaims(cluster: Cluster): Promise<void> {
  const claims = await listClaims(cluster, 'volume')
  for (const claim of claims) {
    if (isTerminating(claim) || isAttached(claim) || isSnapshot(claim)) continue
    await updateOrDelete(cluster, claim, {})
  }
}
