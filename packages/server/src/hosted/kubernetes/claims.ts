// Claims of volumes, which are what caches, and what clusters share, lie in.
import type { V1PersistentVolumeClaim, V1TypedLocalObjectReference } from '@kubernetes/client-node'
import { find, ours, unlessGone, unlessThere, type Cluster, type Kind } from './cluster.ts'

export interface Claim {
  name: string
  labels: Record<string, string>
  accessMode: 'ReadWriteOnce' | 'ReadWriteMany'
  /** null: the cluster's default. */
  storageClass: string | null
  sizeMb: number
  /** What its contents begin as. */
  source: V1TypedLocalObjectReference | null
}

/** Makes it unless there is one of that name. Whether it can be had shows when a pod asks for it. */
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
    .catch(unlessThere)
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

/** While a pod has it, it stays, and nobody else gets it any more. */
export const deleteClaim = (cluster: Cluster, name: string): Promise<void> =>
  cluster
    .ask((options) =>
      cluster.core.deleteNamespacedPersistentVolumeClaim({ namespace: cluster.namespace, name }, options),
    )
    .then(() => {}, unlessGone)

export const isLeaving = ({ metadata }: V1PersistentVolumeClaim): boolean =>
  metadata?.deletionTimestamp !== undefined

/** What it holds at most. Claims say it as 100Mi, storage as it likes: 1Gi, 1073741824, 1G. */
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
