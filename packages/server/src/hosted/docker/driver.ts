// Hosted clusters on a container engine: Docker, or Podman's socket, which speaks the same.
import {
  listContainers,
  readOutput,
  startContainer,
  stopContainer,
  type ContainerSettings,
} from './containers.ts'
import { openEngine } from './engine.ts'
import { setFence, type AllowedPlaces } from './firewall.ts'
import { removeOldHelpers } from './helper.ts'
import { buildImage, deleteImage, ensureImage, listImages, removeOldSteps } from './images.ts'
import { removeEmptyNetworks } from './networks.ts'
import { removeOldRunners } from './runner-volume.ts'
import { listSwitches, setShared } from './shared-volumes.ts'
import { attachVolume, deleteVolume, detachVolume, listVolumes, snapshotVolume } from './volumes.ts'
import type { HostedDriver } from '../driver.ts'

export interface DockerSettings extends ContainerSettings {
  socketPath: string
  installationId: string
  /** With a shell, chroot, cp and du: it looks after volumes and the fence. */
  helperImage: string
  /** What containers reach on the engine's machine; null: all of it. */
  allowed: AllowedPlaces | null
  /** How long the engine may take for anything but builds and pulls. */
  answerSeconds?: number
}

export function openDocker(settings: DockerSettings): HostedDriver {
  const { socketPath, installationId, helperImage, registry, allowed, answerSeconds = 60 } = settings
  const engine = openEngine(socketPath, installationId, answerSeconds)
  const raiseFence = async () => {
    if (allowed === null) return
    await ensureImage(engine, helperImage, registry)
    await setFence(engine, helperImage, allowed)
  }
  let fence: Promise<void> | null = null
  /** Once is enough for a process; `tidy` looks after it. Nothing is started without. */
  const ensureFence = () => {
    const raising = (fence ??= raiseFence())
    raising.catch(() => {
      if (fence === raising) fence = null
    })
    return raising
  }
  return {
    check: async () => void (await engine.ask((docker) => docker.ping())),
    async startContainer(container) {
      await ensureFence()
      await startContainer(engine, settings, container)
    },
    stopContainer: (id) => stopContainer(engine, id),
    listContainers: () => listContainers(engine),
    readOutput: (id) => readOutput(engine, id),
    async buildImage(build) {
      await ensureFence()
      await buildImage(engine, build, allowed !== null)
    },
    deleteImage: (ref) => deleteImage(engine, ref),
    listImages: () => listImages(engine),
    attachVolume: (volume) => attachVolume(engine, volume),
    async snapshotVolume(id) {
      await ensureImage(engine, helperImage, registry)
      return snapshotVolume(engine, id, helperImage)
    },
    detachVolume: (id) => detachVolume(engine, id),
    deleteVolume: (id) => deleteVolume(engine, id),
    listVolumes: () => listVolumes(engine),
    setGitMirror: (clusterId, enabled) => setShared(engine, clusterId, 'git_mirror', enabled),
    setContainerCache: (clusterId, enabled) => setShared(engine, clusterId, 'container_cache', enabled),
    listSwitches: () => listSwitches(engine),
    async tidy() {
      fence = null
      await ensureFence()
      await removeOldHelpers(engine)
      await removeOldSteps(engine)
      await removeEmptyNetworks(engine)
      await removeOldRunners(engine, settings.runner)
    },
    close: async () => {},
  }
}
