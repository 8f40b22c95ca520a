import type { CoreV1ApiReadNamespacedPodLogRequest, V1Pod } from '@kubernetes/client-node'
import { label, type Kind } from '../labels.ts'
import { deleteObject, find, ours, type Cluster } from './cluster.ts'

export const findPod = (cluster: Cluster, name: string): Promise<V1Pod | null> =>
  find(cluster, (options) => cluster.core.readNamespacedPod({ namespace: cluster.namespace, name }, options))

export async function listPods(cluster: Cluster, kind: Kind, id?: string): Promise<V1Pod[]> {
  const labelSelector = ours(cluster, kind) + (id === undefined ? '' : `,${label.id}=${id}`)
  const request = { namespace: cluster.namespace, labelSelector }
  const { items } = await cluster.ask((options) => cluster.core.listNamespacedPod(request, options))
  return items
}

export const deletePod = (cluster: Cluster, name: string, gracePeriodSeconds: number): Promise<void> =>
  deleteObject(cluster, (options) =>
    cluster.core.deleteNamespacedPod({ namespace: cluster.namespace, name, gracePeriodSeconds }, options),
  )

/** The client returns undefined for an empty log. */
export async function readPodLog(
  cluster: Cluster,
  request: Omit<CoreV1ApiReadNamespacedPodLogRequest, 'namespace'>,
): Promise<string> {
  const { namespace } = cluster
  const log = await cluster.ask((options) =>
    cluster.core.readNamespacedPodLog({ ...request, namespace }, options),
  )
  return log ?? ''
}
