// Hosted clusters on a container engine: Docker, or Podman's socket, which speaks the same.
import {
  listContainers,
  readOutput,
  startContainer,
  stopContainer,
  type ContainerSettings,
} from './docker-containers.ts'
import { openEngine } from './docker-engine.ts'
import { removeOldHelpers } from './docker-helper.ts'
import { buildImage, deleteImage, ensureImage, listImages } from './docker-images.ts'
import { removeEmptyNetworks } from './docker-networks.ts'
import { removeOldRunners } from './docker-runner.ts'
import { listSwitches, setShared } from './docker-shared.ts'
import { attachVolume, deleteVolume, detachVolume, listVolumes, snapshotVolume } from './docker-volumes.ts'
import type { HostedDriver } from './driver.ts'

export interface DockerSettings extends ContainerSettings {
  socketPath: string
  installationId: string
  /** With a shell, cp and du: it looks after volumes. */
  helperImage: string
  /** How long the engine may take for anything but builds and pulls. */
  answerSeconds?: number
}

export function openDocker(settings: DockerSettings): HostedDriver {
  const { socketPath, installationId, helperImage, registry, answerSeconds = 60 } = settings
  const engine = openEngine(socketPath, installationId, answerSeconds)
  return {
    check: async () => void (await engine.ask((docker) => docker.ping())),
    startContainer: (container) => startContainer(engine, settings, container),
    stopContainer: (id) => stopContainer(engine, id),
    listContainers: () => listContainers(engine),
    readOutput: (id) => readOutput(engine, id),
    buildImage: (build) => buildImage(engine, build),
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
      await removeOldHelpers(engine)
      await removeEmptyNetworks(engine)
      await removeOldRunners(engine, settings.runner)
    },
    close: async () => {},
  }
}
