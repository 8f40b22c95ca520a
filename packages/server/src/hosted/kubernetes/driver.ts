// Hosted clusters on Kubernetes, where each container is a pod in one namespace.
import type { HostedDriver, SharedKind } from '../driver.ts'
import { openCluster, type KubernetesSettings } from './cluster.ts'
import { listContainers, readOutput, startContainer, stopContainer } from './containers.ts'
import { buildImage, deleteImage, listImages } from './images.ts'
import { openNetworkIsolation } from './network-isolation.ts'
import { openPreparedImages } from './prepared-images.ts'
import { deleteOldRunners } from './runner-image.ts'
import { createShared, deleteShared, listSharedVolumes } from './shared-volumes.ts'
import {
  attachVolume,
  deleteSnapshot,
  detachVolume,
  listVolumes,
  snapshotVolume,
  tidyVolumes,
} from './volumes.ts'

export function openKubernetes(settings: KubernetesSettings): HostedDriver {
  const cluster = openCluster(settings)
  const { runner } = settings
  const prepared = runner === null ? null : openPreparedImages(cluster, runner)
  const isolation = openNetworkIsolation(cluster)
  const setShared = (kind: SharedKind) => (clusterId: string, enabled: boolean) =>
    enabled ? createShared(cluster, clusterId, kind) : deleteShared(cluster, clusterId, kind)
  return {
    check: async () => void (await listContainers(cluster)),
    async startContainer(container) {
      await isolation.ensure()
      await startContainer(cluster, prepared, container)
    },
    stopContainer: (id) => stopContainer(cluster, id),
    listContainers: () => listContainers(cluster),
    readOutput: (id) => readOutput(cluster, id),
    async buildImage(build) {
      await isolation.ensure()
      await buildImage(cluster, prepared, build)
    },
    deleteImage: (ref) => deleteImage(cluster, prepared, ref),
    listImages: () => listImages(cluster),
    attachVolume: (volume) => attachVolume(cluster, volume),
    snapshotVolume: (id) => snapshotVolume(cluster, id),
    detachVolume: (id) => detachVolume(cluster, id),
    deleteSnapshot: (id) => deleteSnapshot(cluster, id),
    listVolumes: () => listVolumes(cluster),
    setGitMirror: setShared('git_mirror'),
    setContainerCache: setShared('container_cache'),
    listSharedVolumes: () => listSharedVolumes(cluster),
    async tidy() {
      isolation.recheck()
      await tidyVolumes(cluster)
      await prepared?.tidy()
      if (runner !== null) await deleteOldRunners(cluster, runner)
    },
    async close() {
      cluster.closing.abort(new Error('The driver is closed.'))
      await prepared?.whenIdle()
    },
  }
}
