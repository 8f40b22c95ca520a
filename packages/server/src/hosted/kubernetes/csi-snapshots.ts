// Snapshots through the VolumeSnapshot API, which the CSI snapshot controllers add to a cluster.
import type { V1ObjectMeta } from '@kubernetes/client-node'
import { HostedUnavailable } from '../driver.ts'
import { ignoreNotFound } from '../engine-request.ts'
import { label, labels } from '../labels.ts'
import { deletedLabels, hasPendingCopies, keptLabel } from './claim-snapshots.ts'
import { quantityMb } from './claims.ts'
import { deleteObject, find, ignoreExisting, ours, poll, type Cluster } from './cluster.ts'
import type { Snapshot, SnapshotStore } from './snapshot-store.ts'

interface VolumeSnapshot {
  metadata?: V1ObjectMeta
  status?: { readyToUse?: boolean; restoreSize?: string; error?: { message?: string } }
}

const apiGroup = 'snapshot.storage.k8s.io'
const kind = 'VolumeSnapshot'

export function csiSnapshots(cluster: Cluster, snapshotClass: string, readySeconds: number): SnapshotStore {
  const { namespace } = cluster
  const resource = { group: apiGroup, version: 'v1', namespace, plural: 'volumesnapshots' }
  const findSnapshot = (name: string) =>
    find<VolumeSnapshot>(cluster, (options) =>
      cluster.custom.getNamespacedCustomObject({ ...resource, name }, options),
    )
  const listSnapshots = async () => {
    const request = { ...resource, labelSelector: ours(cluster, 'volume') }
    const found: { items: VolumeSnapshot[] } = await cluster.ask((options) =>
      cluster.custom.listNamespacedCustomObject(request, options),
    )
    return found.items
  }
  const deleteSnapshot = (name: string) =>
    deleteObject(cluster, (options) =>
      cluster.custom.deleteNamespacedCustomObject({ ...resource, name }, options),
    )
  return {
    async find(name) {
      const snapshot = await findSnapshot(name)
      return snapshot !== null && isUsable(snapshot) ? read(snapshot) : null
    },
    list: async () => (await listSnapshots()).filter(isUsable).map(read),
    async create({ metadata }) {
      const { name = '', labels: marks = {} } = metadata ?? {}
      const body = {
        apiVersion: `${apiGroup}/v1`,
        kind,
        metadata: {
          name,
          labels: labels(cluster, 'volume', marks[label.cluster] ?? '', marks[label.id] ?? ''),
        },
        spec: { volumeSnapshotClassName: snapshotClass, source: { persistentVolumeClaimName: name } },
      }
      await cluster
        .ask((options) => cluster.custom.createNamespacedCustomObject({ ...resource, body }, options))
        .catch(ignoreExisting)
      let reason = ''
      const isReady = await poll(readySeconds, async () => {
        const { status } = (await findSnapshot(name)) ?? {}
        reason = status?.error?.message ?? reason
        return status?.readyToUse === true ? true : undefined
      })
      if (isReady === true) return
      await deleteSnapshot(name)
      throw new HostedUnavailable(`The snapshot ${name} was not made in time. ${reason}`.trim())
    },
    async delete(name) {
      const snapshot = await findSnapshot(name)
      if (snapshot === null || !isUsable(snapshot)) return
      if (!(await hasPendingCopies(cluster, name))) return deleteSnapshot(name)
      const body = { metadata: { labels: deletedLabels } }
      await cluster
        .ask((options) => cluster.custom.patchNamespacedCustomObject({ ...resource, name, body }, options))
        .then(() => {}, ignoreNotFound)
    },
    async tidy() {
      for (const { metadata } of (await listSnapshots()).filter(isMarkedDeleted)) {
        const name = metadata?.name ?? ''
        if (!(await hasPendingCopies(cluster, name))) await deleteSnapshot(name)
      }
    },
  }
}

const isMarkedDeleted = ({ metadata }: VolumeSnapshot) =>
  metadata?.labels?.[keptLabel] === deletedLabels[keptLabel]

const isUsable = (snapshot: VolumeSnapshot) =>
  snapshot.metadata?.deletionTimestamp === undefined && !isMarkedDeleted(snapshot)

const read = ({ metadata, status }: VolumeSnapshot): Snapshot => ({
  id: metadata?.labels?.[label.id] ?? '',
  clusterId: metadata?.labels?.[label.cluster] ?? '',
  sizeMb: quantityMb(status?.restoreSize ?? ''),
  source: { apiGroup, kind, name: metadata?.name ?? '' },
})
