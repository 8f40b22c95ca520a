// The interface to a container engine, which starts containers, builds images and stores volumes for hosted clusters.
// Every failure is a HostedError: refused, not found, in use or unavailable. Every operation can be repeated, because
// the calling process may die before it gets the answer.
import type { Readable } from 'node:stream'

export interface HostedDriver {
  /** Throws if the engine does not accept requests now. */
  check(): Promise<void>

  /** Returns when the command has been started. Does nothing if a container with this id exists. */
  startContainer(container: Container): Promise<void>
  /** Kills the container and deletes everything it had except its volumes. */
  stopContainer(id: string): Promise<void>
  /** All containers that were started and not stopped, including those that have exited. */
  listContainers(): Promise<ContainerStatus[]>
  /** The end of the container's output, at most `mostOutputBytes`. */
  readOutput(id: string): Promise<string>

  /** Returns when the image can be used. Replaces an image with the same name. */
  buildImage(build: ImageBuild): Promise<void>
  /** Throws HostedInUse while a container uses the image. */
  deleteImage(ref: string): Promise<void>
  listImages(): Promise<string[]>

  /** Creates a volume for one container to write to: empty, or a copy-on-write copy of a snapshot. */
  attachVolume(volume: AttachedVolume): Promise<void>
  /** Makes a snapshot of an attached volume. Its container must have ended. */
  snapshotVolume(id: string): Promise<{ sizeMb: number }>
  /** Detaches the volume. Without a snapshot its contents are lost. */
  detachVolume(id: string): Promise<void>
  /** Deletes the snapshot. Copies of it, and snapshots of those, stay complete. */
  deleteSnapshot(id: string): Promise<void>
  listVolumes(): Promise<VolumeStatus[]>

  /**
   * Creates or deletes a volume that all containers of a cluster share. A volume that a container uses is not deleted yet: it
   * stays in the list of shared volumes, and the caller tries again.
   */
  setGitMirror(clusterId: string, enabled: boolean): Promise<void>
  setContainerCache(clusterId: string, enabled: boolean): Promise<void>
  listSharedVolumes(): Promise<SharedVolumes[]>

  /** Deletes what interrupted operations left behind and no other operation would find. */
  tidy(): Promise<void>
  close(): Promise<void>
}

export interface Container {
  /** A UUID of ours. */
  id: string
  clusterId: string
  image: string
  /** Replaces the image's own entry point. */
  command: readonly string[]
  environment: Readonly<Record<string, string>>
  limits: Limits
  mounts: readonly Mount[]
}

export interface Limits {
  cpus: number
  memoryMb: number
  processes: number
}

export type Mount =
  /** A volume that was attached for this container. */
  | { kind: 'volume'; id: string; path: string }
  /** A volume that all containers of the cluster share. */
  | { kind: SharedKind; path: string; readOnly: boolean }

export const sharedKinds = ['git_mirror', 'container_cache'] as const
export type SharedKind = (typeof sharedKinds)[number]

export interface ContainerStatus {
  id: string
  clusterId: string
  /** null: it is running. */
  exitStatus: number | null
}

export interface ImageBuild {
  clusterId: string
  /** The name of the new image. */
  ref: string
  dockerfile: string
  /** Smallest to largest; the build gets the largest that fits the engine's machine. */
  limits: readonly Limits[]
  /** Receives the builder's output piece by piece, in order. */
  onLog(text: string): void
  /** Aborts the build and deletes its results. */
  signal: AbortSignal
}

export interface AttachedVolume {
  id: string
  clusterId: string
  /** The id of a snapshot, which must exist until the copy is made; null: the volume is empty. */
  from: string | null
  /** Requested capacity. Not every engine guarantees or enforces it. */
  sizeMb: number
}

export interface VolumeStatus {
  id: string
  clusterId: string
  isAttached: boolean
  hasSnapshot: boolean
}

export interface SharedVolumes {
  clusterId: string
  gitMirror: boolean
  containerCache: boolean
}

/** The agent program that drivers put into every container at `runnerPath`. */
export interface Runner {
  /** A hash of the contents. At most 64 letters and digits. */
  digest: string
  /** A tar archive of the files below `runnerPath`. */
  archive(): Readable
  /** The command that starts its Node there, without a shell. */
  node: readonly string[]
}

/** Where the runner is mounted in every container, read-only. */
export const runnerPath = '/opt/millrace'

export const mostOutputBytes = 64 * 1024

export class HostedError extends Error {}

/** The request can never succeed. The message is shown to users. */
export class HostedRefused extends HostedError {}

/** The image, volume or container does not exist. */
export class HostedNotFound extends HostedError {}

/** A running container needs it. The request can succeed once that has ended. */
export class HostedInUse extends HostedError {}

/** The engine could not be reached or did not finish. Repeating the request completes it. */
export class HostedUnavailable extends HostedError {}
