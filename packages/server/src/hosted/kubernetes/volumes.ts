/*
 * Volumes that jobs begin with copies of. An attached volume is a claim. What is kept is a snapshot of it, where the
 * operator names a class of snapshots, or else the claim itself, of which the storage makes clones. Either way a copy
 * is made by the storage, and only when a pod first wants it; so what is kept outlives its deletion until no copy of it
 * waits to be made.
 */
import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'
import { HostedNotFound, type AttachedVolume, type VolumeStatus } from '../driver.ts'
import { ensureClaim, findClaim, isLeaving, listClaims } from './claims.ts'
import { label, labels, type Cluster } from './cluster.ts'
import { claimKeeping, deleteLeftClaims, deleteUnused, isAttached, setAttached } from './claim-snapshots.ts'
import { snapshotKeeping } from './csi-snapshots.ts'

export interface VolumeSettings {
  /** null: the cluster's default. */
  storageClass: string | null
  /** null: what is kept are claims. */
  snapshotClass: string | null
  /** How long the storage may take for a snapshot. */
  snapshotSeconds: number
}

/** What is kept of volumes. It goes by the names of their claims. */
export interface Keeping {
  find(name: string): Promise<Kept | null>
  list(): Promise<Kept[]>
  keep(claim: V1PersistentVolumeClaim): Promise<void>
  delete(name: string): Promise<void>
  /** Removes what was deleted when copies of it were still to be made, and now are. */
  tidy(): Promise<void>
}

export interface Kept {
  id: string
  clusterId: string
  sizeMb: number
  /** To say in a claim what it begins as. */
  source: { apiGroup?: string; kind: string; name: string }
}

export const claimName = (id: string): string => `millrace-${id}`

const keepingOf = (cluster: Cluster, { snapshotClass, snapshotSeconds }: VolumeSettings): Keeping =>
  snapshotClass === null ? claimKeeping(cluster) : snapshotKeeping(cluster, snapshotClass, snapshotSeconds)

export async function attachVolume(
  cluster: Cluster,
  settings: VolumeSettings,
  { id, clusterId, from, sizeMb }: AttachedVolume,
): Promise<void> {
  const begun = await findClaim(cluster, claimName(id))
  if (begun !== null && isAttached(begun)) return
  const parent = from === null ? null : await keepingOf(cluster, settings).find(claimName(from))
  if (from !== null && parent === null) throw new HostedNotFound(`There is no kept volume ${from}.`)
  await ensureClaim(cluster, {
    name: claimName(id),
    labels: { ...labels(cluster, 'volume', clusterId, id), ...setAttached(true) },
    accessMode: 'ReadWriteOnce',
    storageClass: settings.storageClass,
    // A copy is never smaller than what it is a copy of.
    sizeMb: Math.max(sizeMb, parent?.sizeMb ?? 1),
    source: parent?.source ?? null,
  })
}

/** The claim of an attached volume. */
export async function findVolumeClaim(cluster: Cluster, id: string): Promise<string> {
  const claim = await findClaim(cluster, claimName(id))
  if (claim !== null && isAttached(claim)) return claimName(id)
  throw new HostedNotFound(`There is no attached volume ${id}.`)
}

export async function snapshotVolume(
  cluster: Cluster,
  settings: VolumeSettings,
  id: string,
): Promise<{ sizeMb: number }> {
  const keeping = keepingOf(cluster, settings)
  const claim = await findClaim(cluster, claimName(id))
  if (claim !== null && isAttached(claim)) await keeping.keep(claim)
  const kept = await keeping.find(claimName(id))
  if (kept === null) throw new HostedNotFound(`There is no attached volume ${id}.`)
  return { sizeMb: kept.sizeMb }
}

export async function detachVolume(cluster: Cluster, id: string): Promise<void> {
  const claim = await findClaim(cluster, claimName(id))
  if (claim === null || isLeaving(claim)) return
  await deleteUnused(cluster, claim, setAttached(false))
}

export const deleteVolume = (cluster: Cluster, settings: VolumeSettings, id: string): Promise<void> =>
  keepingOf(cluster, settings).delete(claimName(id))

export async function listVolumes(cluster: Cluster, settings: VolumeSettings): Promise<VolumeStatus[]> {
  const claims = await listClaims(cluster, 'volume')
  const kept = await keepingOf(cluster, settings).list()
  const attached = claims
    .filter((claim) => isAttached(claim))
    .map(({ metadata }) => ({
      id: metadata?.labels?.[label.id] ?? '',
      clusterId: metadata?.labels?.[label.cluster] ?? '',
    }))
  const all = new Map([...kept, ...attached].map(({ id, clusterId }) => [id, clusterId]))
  return [...all].map(([id, clusterId]) => ({
    id,
    clusterId,
    isAttached: attached.some((one) => one.id === id),
    isKept: kept.some((one) => one.id === id),
  }))
}

export async function tidyVolumes(cluster: Cluster, settings: VolumeSettings): Promise<void> {
  await deleteLeftClaims(cluster)
  await keepingOf(cluster, settings).tidy()
}
