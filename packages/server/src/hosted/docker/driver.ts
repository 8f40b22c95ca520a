// Hosted clusters on Docker, or on Podman through the same API.
import type { HostedDriver, SharedKind } from '../driver.ts'
import { listContainers, readOutput, startContainer, stopContainer } from './containers.ts'
import { openEngine, type DockerSettings } from './engine.ts'
import { applyFirewall } from './firewall.ts'
import { deleteOldHelpers } from './helper.ts'
import { buildImage, deleteImage, deleteOldSteps, ensureImage, listImages } from './images.ts'
import { deleteEmptyNetworks } from './networks.ts'
import { deleteOldRunners } from './runner-volume.ts'
import { createShared, deleteShared, listSharedVolumes } from './shared-volumes.ts'
import { attachVolume, deleteSnapshot, detachVolume, listVolumes, snapshotVolume } from './volumes.ts'

export function openDocker(settings: DockerSettings): HostedDriver {
  const engine = openEngine(settings)
  const { helperImage, allowed } = settings
  const createFirewall = async () => {
    if (allowed === null) return
    await ensureImage(engine, helperImage)
    await applyFirewall(engine, allowed)
  }
  let firewall: Promise<void> | null = null
  /** Before every start of a container. Once per process is enough, since `tidy` renews the rules. */
  const ensureFirewall = () => {
    const creating = (firewall ??= createFirewall())
    creating.catch(() => {
      if (firewall === creating) firewall = null
    })
    return creating
  }
  const setShared = (kind: SharedKind) => (clusterId: string, enabled: boolean) =>
    enabled ? createShared(engine, clusterId, kind) : deleteShared(engine, clusterId, kind)
  return {
    check: async () => void (await engine.ask((docker) => docker.ping())),
    async startContainer(container) {
      await ensureFirewall()
      await startContainer(engine, container)
    },
    stopContainer: (id) => stopContainer(engine, id),
    listContainers: () => listContainers(engine),
    readOutput: (id) => readOutput(engine, id),
    async buildImage(build) {
      await ensureFirewall()
      await buildImage(engine, build)
    },
    deleteImage: (ref) => deleteImage(engine, ref),
    listImages: () => listImages(engine),
    attachVolume: (volume) => attachVolume(engine, volume),
    async snapshotVolume(id) {
      await ensureImage(engine, helperImage)
      return snapshotVolume(engine, id)
    },
    detachVolume: (id) => detachVolume(engine, id),
    deleteSnapshot: (id) => deleteSnapshot(engine, id),
    listVolumes: () => listVolumes(engine),
    setGitMirror: setShared('git_mirror'),
    setContainerCache: setShared('container_cache'),
    listSharedVolumes: () => listSharedVolumes(engine),
    async tidy() {
      firewall = null
      await ensureFirewall()
      await deleteOldHelpers(engine)
      await deleteOldSteps(engine)
      await deleteEmptyNetworks(engine)
      await deleteOldRunners(engine, settings.runner)
    },
    close: async () => {},
  }
}
