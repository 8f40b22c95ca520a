/*
 * Volumes that jobs start with copies of. An attached volume is a claim. A snapshot is a VolumeSnapshot, if the operator names
 * a class of snapshots, or else the claim itself, which storage clones. Storage makes a copy only when a pod first needs it,
 * so a deleted snapshot stays until no copy of it is pending.
 */
import { HostedNotFound, type AttachedVolume, type VolumeStatus } from '../driver.ts'
import { label, labels } from '../labels.ts'
import {
  attachedLabels,
  claimSnapshots,
  deleteUnusedClaims,
  detachedLabels,
  isAttached,
  updateOrDelete,
} from './claim-snapshots.ts'
import { ensureClaim, findClaim, isTerminating, listClaims } from './claims.ts'
import type { Cluster } from './cluster.ts'
import { csiSnapshots } from './csi-snapshots.ts'
import type { SnapshotStore } from './snapshot-store.ts'

const claimName = (id: string): string => `millrace-${id}`

const openSnapshots = (cluster: Cluster): SnapshotStore => {
  const { snapshotClass, snapshotSeconds } = cluster.settings
  return snapshotClass === null
    ? claimSnapshots(cluster)
    : csiSnapshots(cluster, snapshotClass, snapshotSeconds)
}

export async function attachVolume(
  cluster: Cluster,
  { id, clusterId, from, sizeMb }: AttachedVolume,
): Promise<void> {
  const existing = await findClaim(cluster, claimName(id))
  if (existing !== null && isAttached(existing)) return
  const parent = from === null ? null : await openSnapshots(cluster).find(claimName(from))
  if (from !== null && parent === null) throw new HostedNotFound(`There is no kept volume ${from}.`)
  await ensureClaim(cluster, {
    name: claimName(id),
    labels: { ...labels(cluster, 'volume', clusterId, id), ...attachedLabels },
    accessMode: 'ReadWriteOnce',
    storageClass: cluster.settings.storageClass,
    // A copy cannot be smaller than its original.
    sizeMb: Math.max(sizeMb, parent?.sizeMb ?? 1),
    source: parent?.source ?? null,
  })
}

export async function findVolumeClaim(cluster: Cluster, id: string): Promise<string> {
  const claim = await findClaim(cluster, claimName(id))
  if (claim !== null && isAttached(claim)) return claimName(id)
  throw new HostedNotFound(`There is no attached volume ${id}.`)
}

export async function snapshotVolume(cluster: Cluster, id: string): Promise<{ sizeMb: number }> {
  const snapshots = openSnapshots(cluster)
  const claim = await findClaim(cluster, claimName(id))
  if (claim !== null && isAttached(claim)) await snapshots.create(claim)
  const snapshot = await snapshots.find(claimName(id))
  if (snapshot === null) throw new HostedNotFound(`There is no attached volume ${id}.`)
  return { sizeMb: snapshot.sizeMb }
}

export async function detachVolume(cluster: Cluster, id: string): Promise<void> {
  const claim = await findClaim(cluster, claimName(id))
  if (claim === null || isTerminating(claim)) return
  await updateOrDelete(cluster, claim, detachedLabels)
}

export const deleteSnapshot = (cluster: Cluster, id: string): Promise<void> =>
  openSnapshots(cluster).delete(claimName(id))

export async function listVolumes(cluster: Cluster): Promise<VolumeStatus[]> {
  const claims = await listClaims(cluster, 'volume')
  const snapshots = await openSnapshots(cluster).list()
  const attached = claims.filter(isAttached).map(({ metadata }) => ({
    id: metadata?.labels?.[label.id] ?? '',
    clusterId: metadata?.labels?.[label.cluster] ?? '',
  }))
  const all = new Map([...snapshots, ...attached].map(({ id, clusterId }) => [id, clusterId]))
  return [...all].map(([id, clusterId]) => ({
    id,
    clusterId,
    isAttached: attached.some((one) => one.id === id),
    hasSnapshot: snapshots.some((one) => one.id === id),
  }))
}

export async function tidyVolumes(cluster: Cluster): Promise<void> {
  await deleteUnusedClaims(cluster)
  await openSnapshots(cluster).tidy()
}
