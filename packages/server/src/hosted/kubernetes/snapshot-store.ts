import type { V1PersistentVolumeClaim } from '@kubernetes/client-node'

/** Snapshots of volumes. Each has the name of the volume's claim. */
export interface SnapshotStore {
  find(name: string): Promise<Snapshot | null>
  list(): Promise<Snapshot[]>
  create(claim: V1PersistentVolumeClaim): Promise<void>
  /** A snapshot that storage still has to copy stays until the copies are made. */
  delete(name: string): Promise<void>
  /** Deletes the snapshots that waited for copies. */
  tidy(): Promise<void>
}

export interface Snapshot {
  id: string
  clusterId: string
  sizeMb: number
  /** The `dataSource` of a claim that copies it. */
  source: { apiGroup?: string; kind: string; name: string }
}
