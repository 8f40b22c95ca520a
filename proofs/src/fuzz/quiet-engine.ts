// A container engine that accepts everything and runs nothing. It remembers only the images that it has built.
import type { HostedDriver } from '@millrace/server/hosted/driver.ts'

const images = new Set<string>()

export const quietEngine: HostedDriver = {
  check: async () => {},
  startContainer: async () => {},
  stopContainer: async () => {},
  listContainers: async () => [],
  readOutput: async () => '',
  async buildImage({ ref, onLog }) {
    onLog('Built nothing.\n')
    images.add(ref)
  },
  async deleteImage(ref) {
    images.delete(ref)
  },
  listImages: async () => [...images],
  attachVolume: async () => {},
  snapshotVolume: async () => ({ sizeMb: 1 }),
  detachVolume: async () => {},
  deleteSnapshot: async () => {},
  listVolumes: async () => [],
  setGitMirror: async () => {},
  setContainerCache: async () => {},
  listSharedVolumes: async () => [],
  tidy: async () => {},
  close: async () => {},
}
