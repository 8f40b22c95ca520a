// What the pods of one cluster share: a claim that many nodes can mount, for each switch that is on.
import {
  HostedNotFound,
  HostedRefused,
  HostedUnavailable,
  sharedKinds,
  type ClusterSwitches,
  type SharedKind,
} from '../driver.ts'
import { deleteClaim, ensureClaim, findClaim, isLeaving, listClaims } from './claims.ts'
import { label, labels, poll, type Cluster } from './cluster.ts'

export interface SharedSettings {
  /** Whose volumes many nodes can mount at once; null: none is known. */
  sharedStorageClass: string | null
  sharedMb: number
  /** How long a claim may take to go; one that a pod has takes longer, and is not waited for. */
  leavingSeconds: number
}

const nameOf = (clusterId: string, kind: SharedKind) => `millrace-${clusterId}-${kind.replace('_', '-')}`

export async function setShared(
  cluster: Cluster,
  { sharedStorageClass, sharedMb, leavingSeconds }: SharedSettings,
  clusterId: string,
  kind: SharedKind,
  enabled: boolean,
): Promise<void> {
  const name = nameOf(clusterId, kind)
  if (!enabled) {
    if ((await findClaim(cluster, name)) === null) return
    await deleteClaim(cluster, name)
    await poll(leavingSeconds, async () => ((await findClaim(cluster, name)) === null ? true : undefined))
    return
  }
  if (sharedStorageClass === null) {
    throw new HostedRefused(
      'What clusters share needs volumes that many nodes can mount: MILLRACE_HOSTED_SHARED_STORAGE_CLASS names none.',
    )
  }
  await ensureClaim(cluster, {
    name,
    labels: labels(cluster, 'shared', clusterId, kind),
    accessMode: 'ReadWriteMany',
    storageClass: sharedStorageClass,
    sizeMb: sharedMb,
    source: null,
  })
  const claim = await findClaim(cluster, name)
  if (claim === null || isLeaving(claim)) {
    throw new HostedUnavailable(`What the cluster ${clusterId} shared before is still being removed.`)
  }
}

export async function findSharedClaim(
  cluster: Cluster,
  clusterId: string,
  kind: SharedKind,
): Promise<string> {
  const name = nameOf(clusterId, kind)
  const claim = await findClaim(cluster, name)
  if (claim !== null && !isLeaving(claim)) return name
  throw new HostedNotFound(`The cluster ${clusterId} has no ${kind}.`)
}

export async function listSwitches(cluster: Cluster): Promise<ClusterSwitches[]> {
  const claims = await listClaims(cluster, 'shared')
  const names = new Set(claims.map(({ metadata }) => metadata?.name))
  const clusterIds = new Set(claims.map(({ metadata }) => metadata?.labels?.[label.cluster] ?? ''))
  return [...clusterIds].map((clusterId) => {
    const [gitMirror = false, containerCache = false] = sharedKinds.map((kind) =>
      names.has(nameOf(clusterId, kind)),
    )
    return { clusterId, gitMirror, containerCache }
  })
}
