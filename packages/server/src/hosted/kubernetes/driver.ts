// Hosted clusters on Kubernetes, where each container is a pod in one namespace.
import type { HostedDriver, SharedKind } from '../driver.ts'
import { openRegistry } from '../registry/registry.ts'
import type { BuildSettings } from './build-job.ts'
import { openCluster, type Cluster, type ClusterSettings } from './cluster.ts'
import {
  listContainers,
  readOutput,
  startContainer,
  stopContainer,
  type StartSettings,
} from './containers.ts'
import { buildImage, deleteImage, listImages } from './images.ts'
import { openNetworkIsolation } from './network-isolation.ts'
import { openPreparedImages } from './prepared-images.ts'
import { deleteOldRunners } from './runner-image.ts'
import { createShared, deleteShared, listSharedVolumes, type SharedSettings } from './shared-volumes.ts'
import {
  attachVolume,
  deleteSnapshot,
  detachVolume,
  listVolumes,
  snapshotVolume,
  tidyVolumes,
  type VolumeSettings,
} from './volumes.ts'

export interface KubernetesSettings
  extends
    ClusterSettings,
    Omit<StartSettings, 'registry' | 'preparedImages' | 'startSeconds' | 'stopSeconds'>,
    Omit<BuildSettings, 'registry'>,
    Omit<VolumeSettings, 'snapshotSeconds'>,
    Omit<SharedSettings, 'leavingSeconds'> {
  /** The prefix of the names of built images. */
  registry: string
  isRegistryInsecure: boolean
  /** Private ranges that pods may reach. */
  outboundAllow: readonly string[]
  /** Run jobs even if the network does not isolate them. */
  isNetworkOpen: boolean
  /** Receives what makes jobs slow or unsafe. */
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
  const preparedImages = runner === null ? null : openPreparedImages(cluster, { ...given, registry, runner })
  const settings = {
    ...given,
    registry,
    preparedImages,
    // Shorter than the lifetime of the pod's token, which is five minutes.
    startSeconds: given.startSeconds ?? 240,
    stopSeconds: given.stopSeconds ?? 30,
    snapshotSeconds: given.snapshotSeconds ?? 300,
    leavingSeconds: given.leavingSeconds ?? 5,
  }
  const isolation = openNetworkIsolation(cluster, settings)
  const setShared = (kind: SharedKind) => (clusterId: string, enabled: boolean) =>
    enabled
      ? createShared(cluster, settings, clusterId, kind)
      : deleteShared(cluster, settings, clusterId, kind)
  return {
    check: async () => void (await listContainers(cluster)),
    async startContainer(container) {
      await isolation.ensure()
      await startContainer(cluster, settings, container)
    },
    stopContainer: (id) => stopContainer(cluster, settings, id),
    listContainers: () => listContainers(cluster),
    readOutput: (id) => readOutput(cluster, id),
    async buildImage(build) {
      await isolation.ensure()
      await buildImage(cluster, settings, build)
    },
    deleteImage: (ref) => deleteImage(cluster, settings, ref),
    listImages: () => listImages(cluster),
    attachVolume: (volume) => attachVolume(cluster, settings, volume),
    snapshotVolume: (id) => snapshotVolume(cluster, settings, id),
    detachVolume: (id) => detachVolume(cluster, id),
    deleteSnapshot: (id) => deleteSnapshot(cluster, settings, id),
    listVolumes: () => listVolumes(cluster, settings),
    setGitMirror: setShared('git_mirror'),
    setContainerCache: setShared('container_cache'),
    listSharedVolumes: () => listSharedVolumes(cluster),
    async tidy() {
      isolation.recheck()
      await tidyVolumes(cluster, settings)
      await preparedImages?.tidy()
      if (runner !== null) await deleteOldRunners(cluster, registry, runner)
    },
    async close() {
      closing.abort(new Error('The driver is closed.'))
      await preparedImages?.whenIdle()
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
