// Records of the images that were built, with their digests, as config maps, because registries cannot list them. An image
// that is built again gets another digest. Pods name the digest, so no node runs an image it pulled earlier.
import { createHash } from 'node:crypto'
import type { V1ConfigMap } from '@kubernetes/client-node'
import { HostedNotFound } from '../driver.ts'
import { labels, type Kind } from '../labels.ts'
import { deleteObject, find, ignoreExisting, ours, type Cluster } from './cluster.ts'

interface ImageRecord {
  ref: string
  digest: string
  /** The digest of the image that it was made from. */
  from?: string
}

/** For texts that are too long for a name or a label, or have characters these cannot have. */
export const shortHash = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 40)

const nameOf = (kind: Kind, ref: string) => `millrace-${kind}-${shortHash(ref)}`

export async function findRecord(cluster: Cluster, kind: Kind, ref: string): Promise<ImageRecord | null> {
  const { namespace } = cluster
  const found = await find(cluster, (options) =>
    cluster.core.readNamespacedConfigMap({ namespace, name: nameOf(kind, ref) }, options),
  )
  return found === null ? null : read(found)
}

export async function getImage(cluster: Cluster, ref: string): Promise<ImageRecord> {
  const found = await findRecord(cluster, 'image', ref)
  if (found === null) throw new HostedNotFound(`There is no image ${ref}.`)
  return found
}

export async function listRecords(cluster: Cluster, kind: Kind): Promise<ImageRecord[]> {
  const request = { namespace: cluster.namespace, labelSelector: ours(cluster, kind) }
  const { items } = await cluster.ask((options) => cluster.core.listNamespacedConfigMap(request, options))
  return items.map(read)
}

export async function saveRecord(
  cluster: Cluster,
  kind: Kind,
  clusterId: string,
  { ref, digest, from }: ImageRecord,
): Promise<void> {
  const { namespace } = cluster
  const name = nameOf(kind, ref)
  const body: V1ConfigMap = {
    metadata: { name, labels: labels(cluster, kind, clusterId, shortHash(ref)) },
    data: { ref, digest, ...(from === undefined ? {} : { from }) },
  }
  await cluster
    .ask((options) => cluster.core.createNamespacedConfigMap({ namespace, body }, options))
    .catch(async (error: unknown) => {
      ignoreExisting(error)
      await cluster.ask((options) =>
        cluster.core.replaceNamespacedConfigMap({ namespace, name, body }, options),
      )
    })
}

export const deleteRecord = (cluster: Cluster, kind: Kind, ref: string): Promise<void> =>
  deleteObject(cluster, (options) =>
    cluster.core.deleteNamespacedConfigMap(
      { namespace: cluster.namespace, name: nameOf(kind, ref) },
      options,
    ),
  )

const read = ({ data }: V1ConfigMap): ImageRecord => ({
  ref: data?.['ref'] ?? '',
  digest: data?.['digest'] ?? '',
  ...(data?.['from'] === undefined ? {} : { from: data['from'] }),
})
