// What is kept of volumes as snapshots, an API that its own controllers bring to a cluster.
import type { V1ObjectMeta, V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { HostedUnavailable } from '../driver.ts'
import { quantityMb } from './claims.ts'
import { find, label, labels, ours, poll, unlessGone, unlessThere, type Cluster } from './cluster.ts'
import { dropped, hasWaitingCopies, keptLabel } from './claim-snapshots.ts'
import type { Keeping, Kept } from './volumes.ts'

interface Snapshot {
  metadata?: V1ObjectMeta
  status?: { readyToUse?: boolean; restoreSize?: string; error?: { message?: string } }
}

const apiGroup = 'snapshot.storage.k8s.io'
const kind = 'VolumeSnapshot'

export function snapshotKeeping(cluster: Cluster, snapshotClass: string, readySeconds: number): Keeping {
  const { namespace } = cluster
  const place = { group: apiGroup, version: 'v1', namespace, plural: 'volumesnapshots' }
  const findSnapshot = (name: string) =>
    find<Snapshot>(cluster, (options) =>
      cluster.custom.getNamespacedCustomObject({ ...place, name }, options),
    )
  const listSnapshots = async () => {
    const found: { items: Snapshot[] } = await cluster.ask((options) =>
      cluster.custom.listNamespacedCustomObject(
        { ...place, labelSelector: ours(cluster, 'volume') },
        options,
      ),
    )
    return found.items
  }
  const remove = (name: string) =>
    cluster
      .ask((options) => cluster.custom.deleteNamespacedCustomObject({ ...place, name }, options))
      .then(() => {}, unlessGone)
  return {
    async find(name) {
      const snapshot = await findSnapshot(name)
      return snapshot !== null && isKept(snapshot) ? read(snapshot) : null
    },
    list: async () => (await listSnapshots()).filter(isKept).map(read),
    async keep({ metadata }: V1PersistentVolumeClaim) {
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
        .ask((options) => cluster.custom.createNamespacedCustomObject({ ...place, body }, options))
        .catch(unlessThere)
      let reason = ''
      const isReady = await poll(readySeconds, async () => {
        const { status } = (await findSnapshot(name)) ?? {}
        reason = status?.error?.message ?? reason
        return status?.readyToUse === true ? true : undefined
      })
      if (isReady === true) return
      await remove(name)
      throw new HostedUnavailable(`The snapshot ${name} was not made in time. ${reason}`.trim())
    },
    async delete(name) {
      const snapshot = await findSnapshot(name)
      if (snapshot === null || !isKept(snapshot)) return
      if (!(await hasWaitingCopies(cluster, name))) return remove(name)
      const body = { metadata: { labels: dropped } }
      await cluster
        .ask((options) => cluster.custom.patchNamespacedCustomObject({ ...place, name, body }, options))
        .then(() => {}, unlessGone)
    },
    async tidy() {
      for (const { metadata } of (await listSnapshots()).filter(isDropped)) {
        const name = metadata?.name ?? ''
        if (!(await hasWaitingCopies(cluster, name))) await remove(name)
      }
    },
  }
}

const isDropped = ({ metadata }: Snapshot) => metadata?.labels?.[keptLabel] === 'dropped'

const isKept = (snapshot: Snapshot) =>
  snapshot.metadata?.deletionTimestamp === undefined && !isDropped(snapshot)

const read = ({ metadata, status }: Snapshot): Kept => ({
  id: metadata?.labels?.[label.id] ?? '',
  clusterId: metadata?.labels?.[label.cluster] ?? '',
  sizeMb: quantityMb(status?.restoreSize ?? ''),
  source: { apiGroup, kind, name: metadata?.name ?? '' },
})
