// What runs hosted clusters: an engine outside this process that starts containers, builds images and keeps
// volumes. Every failure is one of four: refused, not there, in use, unavailable. Every operation may be repeated, because
// the process that asked may die before it hears the answer: what is done already is done.

export interface HostedDriver {
  /** Fails where the engine would not take an order now. */
  check(): Promise<void>

  /** Returns when its command has been started. A container of this id that is there already is left alone. */
  startContainer(container: Container): Promise<void>
  /** Kills it and removes every trace but its volumes. */
  stopContainer(id: string): Promise<void>
  /** Everything that was started and not stopped, also what has ended by itself. */
  listContainers(): Promise<ContainerStatus[]>
  /** The end of what it wrote, at most `mostOutputBytes`. */
  readOutput(id: string): Promise<string>

  /** Returns when the image can be used. Replaces an image of that name. */
  buildImage(build: ImageBuild): Promise<void>
  /** In use while a container is made from it. */
  deleteImage(ref: string): Promise<void>
  /** By their names, those that are built. */
  listImages(): Promise<string[]>

  /** A volume for one container to write to: empty, or a copy of a kept one, which costs nothing until it differs. */
  attachVolume(volume: AttachedVolume): Promise<void>
  /** Keeps what an attached volume holds now, to attach copies of. Its container must have ended. */
  snapshotVolume(id: string): Promise<{ sizeMb: number }>
  /** The volume is no longer attached. What no snapshot keeps is gone. */
  detachVolume(id: string): Promise<void>
  /** Forgets the snapshot. Copies of it that are attached, or kept, stay whole. */
  deleteVolume(id: string): Promise<void>
  listVolumes(): Promise<VolumeStatus[]>

  /**
   * What the containers of a cluster share. Switched off, what was in it is lost; while a container has it, it stays
   * in the list of switches, to be switched off again later.
   */
  setGitMirror(clusterId: string, enabled: boolean): Promise<void>
  setContainerCache(clusterId: string, enabled: boolean): Promise<void>
  /** The clusters whose shared volumes exist. */
  listSwitches(): Promise<ClusterSwitches[]>

  /** Removes what processes left behind in the middle of something, and nothing else would find. */
  tidy(): Promise<void>
  close(): Promise<void>
}

export interface Container {
  /** A UUID of ours. */
  id: string
  clusterId: string
  image: string
  /** Whatever the image would run by itself does not count. */
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
  /** What the containers of the cluster share, while it is switched on. */
  | { kind: SharedKind; path: string; readOnly: boolean }

export const sharedKinds = ['git_mirror', 'container_cache'] as const
export type SharedKind = (typeof sharedKinds)[number]

export interface ContainerStatus {
  id: string
  clusterId: string
  /** null: it runs. */
  exitStatus: number | null
}

export interface ImageBuild {
  clusterId: string
  /** The name that the image gets. */
  ref: string
  dockerfile: string
  /** From the smallest to the largest; the build gets the largest that the engine's machine holds. */
  limits: readonly Limits[]
  /** Called with pieces of what the builder says, in order. */
  onLog(text: string): void
  /** Ends the build; what was made of it is thrown away. */
  signal: AbortSignal
}

export interface AttachedVolume {
  id: string
  clusterId: string
  /** A kept volume, which must not be deleted before the copy is made; null: it begins empty. */
  from: string | null
  /** How much it should be able to hold. Not every engine can promise or enforce it. */
  sizeMb: number
}

export interface VolumeStatus {
  id: string
  clusterId: string
  isAttached: boolean
  isKept: boolean
}

export interface ClusterSwitches {
  clusterId: string
  gitMirror: boolean
  containerCache: boolean
}

/** Where the runner lies in every container, read-only, for drivers that were given one. */
export const runnerPath = '/opt/millrace'

export const mostOutputBytes = 64 * 1024

/** The engine will not do this, however often it is asked. The message is for people. */
export class HostedRefused extends Error {}

/** The image, volume or container that was named does not exist. */
export class HostedNotFound extends Error {}

/** Something that runs needs it. When that has ended, it can be done. */
export class HostedInUse extends Error {}

/** The engine could not be reached or did not finish. What it left half done it takes up when asked again. */
export class HostedUnavailable extends Error {}
