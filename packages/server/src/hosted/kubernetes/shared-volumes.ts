// Volumes that the pods of one cluster share: claims that many nodes can mount.
import {
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  type SharedKind,
  type SharedVolumes,
} from '../driver.ts'
import { labels, readSharedVolumes } from '../labels.ts'
import { deleteClaim, ensureClaim, findClaim, isTerminating, listClaims } from './claims.ts'
import { poll, type Cluster } from './cluster.ts'

const nameOf = (clusterId: string, kind: SharedKind) => `millrace-${clusterId}-${kind.replace('_', '-')}`

export async function createShared(cluster: Cluster, clusterId: string, kind: SharedKind): Promise<void> {
  const { sharedStorageClass, sharedMb } = cluster.settings
  if (sharedStorageClass === null) {
    throw new HostedRefused(
      'What clusters share needs volumes that many nodes can mount: MILLRACE_HOSTED_SHARED_STORAGE_CLASS names none.',
    )
  }
  const name = nameOf(clusterId, kind)
  await ensureClaim(cluster, {
    name,
    labels: labels(cluster, 'shared', clusterId, kind),
    accessMode: 'ReadWriteMany',
    storageClass: sharedStorageClass,
    sizeMb: sharedMb,
    source: null,
  })
  const claim = await findClaim(cluster, name)
  if (claim === null || isTerminating(claim)) {
    throw new HostedUnavailable(`What the cluster ${clusterId} shared before is still being removed.`)
  }
}

export async function deleteShared(cluster: Cluster, clusterId: string, kind: SharedKind): Promise<void> {
  const name = nameOf(clusterId, kind)
  if ((await findClaim(cluster, name)) === null) return
  await deleteClaim(cluster, name)
  await poll(cluster.settings.leavingSeconds, async () =>
    (await findClaim(cluster, name)) === null ? true : undefined,
  )
}

export async function findSharedClaim(
  cluster: Cluster,
  clusterId: string,
  kind: SharedKind,
): Promise<string> {
  const name = nameOf(clusterId, kind)
  const claim = await findClaim(cluster, name)
  if (claim !== null && !isTerminating(claim)) return name
  throw new HostedNotFound(`The cluster ${clusterId} has no ${kind}.`)
}

export const listSharedVolumes = async (cluster: Cluster): Promise<SharedVolumes[]> =>
  readSharedVolumes((await listClaims(cluster, 'shared')).map(({ metadata }) => metadata?.labels ?? {}))
