// Hosted clusters on Kubernetes: a pod for each container, in one namespace.
import type { HostedDriver } from '../driver.ts'
import type { BuildSettings } from './build-job.ts'
import { openCluster, type Cluster, type ClusterSettings } from './cluster.ts'
import { openEquipped } from './prepared-images.ts'
import { buildImage, deleteImage, listImages } from './images.ts'
import { openGuard } from './network-isolation.ts'
import { listContainers, readOutput, startContainer, stopContainer, type StartSettings } from './containers.ts'
import { removeOldRunners } from './runner-image.ts'
import { listSwitches, setShared, type SharedSettings } from './shared-volumes.ts'
import {
  attachVolume,
  deleteVolume,
  detachVolume,
  listVolumes,
  snapshotVolume,
  tidyVolumes,
  type VolumeSettings,
} from './volumes.ts'
import { openRegistry } from '../registry/registry.ts'

export interface KubernetesSettings
  extends
    ClusterSettings,
    Omit<StartSettings, 'registry' | 'equipped' | 'startSeconds' | 'stopSeconds'>,
    Omit<BuildSettings, 'registry'>,
    Omit<VolumeSettings, 'snapshotSeconds'>,
    Omit<SharedSettings, 'leavingSeconds'> {
  /** What the names of built images begin with. */
  registry: string
  isRegistryInsecure: boolean
  /** Ranges that pods may reach although they are private. */
  outboundAllow: readonly string[]
  /** Jobs run although the network does not keep them from anything. */
  isNetworkOpen: boolean
  /** Told what makes jobs slow or unsafe, and what to do about it. */
  warn(error: unknown, message: string): void
  startSeconds?: number
  stopSeconds?: number
  snapshotSeconds?: number
  leavingSeconds?: number
}

export function openKubernetes(given: KubernetesSettings): HostedDriver {
  const cluster = openCluster(given)
  const closing = new AbortController()
  const registry = openRegistry({
    prefix: given.registry,
    isInsecure: given.isRegistryInsecure,
    readCredentials: () => readCredentials(cluster, given.registrySecret),
    closing: closing.signal,
  })
  const { runner } = given
  const equipped = runner === null ? null : openEquipped(cluster, { ...given, registry, runner })
  const settings = {
    ...given,
    registry,
    equipped,
    // The token that a pod gets is good for five minutes.
    startSeconds: given.startSeconds ?? 240,
    stopSeconds: given.stopSeconds ?? 30,
    snapshotSeconds: given.snapshotSeconds ?? 300,
    leavingSeconds: given.leavingSeconds ?? 5,
  }
  const guard = openGuard(cluster, settings)
  return {
    check: async () => void (await listContainers(cluster)),
    async startContainer(container) {
      await guard.pass()
      await startContainer(cluster, settings, container)
    },
    stopContainer: (id) => stopContainer(cluster, settings, id),
    listContainers: () => listContainers(cluster),
    readOutput: (id) => readOutput(cluster, id),
    async buildImage(build) {
      await guard.pass()
      await buildImage(cluster, settings, build)
    },
    deleteImage: (ref) => deleteImage(cluster, settings, ref),
    listImages: () => listImages(cluster),
    attachVolume: (volume) => attachVolume(cluster, settings, volume),
    snapshotVolume: (id) => snapshotVolume(cluster, settings, id),
    detachVolume: (id) => detachVolume(cluster, id),
    deleteVolume: (id) => deleteVolume(cluster, settings, id),
    listVolumes: () => listVolumes(cluster, settings),
    setGitMirror: (clusterId, enabled) => setShared(cluster, settings, clusterId, 'git_mirror', enabled),
    setContainerCache: (clusterId, enabled) =>
      setShared(cluster, settings, clusterId, 'container_cache', enabled),
    listSwitches: () => listSwitches(cluster),
    async tidy() {
      guard.lookAgain()
      await tidyVolumes(cluster, settings)
      await equipped?.tidy()
      if (runner !== null) await removeOldRunners(cluster, registry, runner)
    },
    async close() {
      closing.abort(new Error('The driver is closed.'))
      await equipped?.settle()
    },
  }
}

async function readCredentials(cluster: Cluster, name: string | null): Promise<string | null> {
  if (name === null) return null
  const { namespace } = cluster
  const { data } = await cluster.ask((options) =>
    cluster.core.readNamespacedSecret({ namespace, name }, options),
  )
  return Buffer.from(data?.['.dockerconfigjson'] ?? '', 'base64').toString('utf8') || null
}
