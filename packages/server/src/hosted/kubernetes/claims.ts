// Volume claims, for caches and for the volumes that clusters share.
import type { V1PersistentVolumeClaim, V1TypedLocalObjectReference } from '@kubernetes/client-node'
import type { Kind, Labels } from '../labels.ts'
import { deleteObject, find, ignoreExisting, ours, type Cluster } from './cluster.ts'

interface Claim {
  name: string
  labels: Labels
  accessMode: 'ReadWriteOnce' | 'ReadWriteMany'
  /** null: the cluster's default. */
  storageClass: string | null
  sizeMb: number
  /** The source of its initial contents; null: it is empty. */
  source: V1TypedLocalObjectReference | null
}

/** Creates the claim unless it exists. Storage may bind it only when a pod uses it. */
export async function ensureClaim(cluster: Cluster, claim: Claim): Promise<void> {
  const { name, labels, accessMode, storageClass, sizeMb, source } = claim
  const body: V1PersistentVolumeClaim = {
    metadata: { name, labels },
    spec: {
      accessModes: [accessMode],
      resources: { requests: { storage: `${sizeMb}Mi` } },
      ...(storageClass === null ? {} : { storageClassName: storageClass }),
      ...(source === null ? {} : { dataSource: source }),
    },
  }
  const { namespace } = cluster
  await cluster
    .ask((options) => cluster.core.createNamespacedPersistentVolumeClaim({ namespace, body }, options))
    .catch(ignoreExisting)
}

export const findClaim = (cluster: Cluster, name: string): Promise<V1PersistentVolumeClaim | null> =>
  find(cluster, (options) =>
    cluster.core.readNamespacedPersistentVolumeClaim({ namespace: cluster.namespace, name }, options),
  )

export async function listClaims(cluster: Cluster, kind: Kind): Promise<V1PersistentVolumeClaim[]> {
  const request = { namespace: cluster.namespace, labelSelector: ours(cluster, kind) }
  const { items } = await cluster.ask((options) =>
    cluster.core.listNamespacedPersistentVolumeClaim(request, options),
  )
  return items
}

/** A claim that a pod uses is terminating until the pod has ended. */
export const deleteClaim = (cluster: Cluster, name: string): Promise<void> =>
  deleteObject(cluster, (options) =>
    cluster.core.deleteNamespacedPersistentVolumeClaim({ namespace: cluster.namespace, name }, options),
  )

export const isTerminating = ({ metadata }: V1PersistentVolumeClaim): boolean =>
  metadata?.deletionTimestamp !== undefined

export function capacityMb({ status, spec }: V1PersistentVolumeClaim): number {
  const text = status?.capacity?.['storage'] ?? spec?.resources?.requests?.['storage'] ?? ''
  return quantityMb(text)
}

export function quantityMb(text: string): number {
  const [, amount = '0', unit = ''] = /^([\d.]+(?:e\d+)?)([A-Za-z]*)$/.exec(text) ?? []
  const powers = ['', 'K', 'M', 'G', 'T', 'P']
  const power = powers.indexOf(unit.replace('i', '').toUpperCase())
  const bytes = Number(amount) * (unit.endsWith('i') ? 1024 : 1000) ** Math.max(power, 0)
  return Math.ceil(bytes / 1024 / 1024)
}
