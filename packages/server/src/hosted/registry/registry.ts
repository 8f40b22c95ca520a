// The registry of our images. Millrace pushes the runner as an image, stacks it on other images, and deletes images. The
// builder pushes built images, and the nodes pull.
import type { Readable } from 'node:stream'
import { connect, type Access } from './http.ts'
import { findDigest, locate, putLayerImage, readImage, stackImages, type ImageLocation } from './images.ts'

interface RegistrySettings extends Access {
  /** The prefix of our images' names: a host and a path. */
  prefix: string
}

export interface Registry {
  prefix: string
  host: string
  isInsecure: boolean
  holds(image: string): boolean
  /** Does nothing if the registry does not support deletion. */
  deleteImage(name: string, digest: string): Promise<void>
  /** Pushes an image of one layer. Returns its digest. */
  pushLayer(ref: string, layer: Readable): Promise<string>
  /** The current digest of an image in any registry. */
  findDigest(image: string): Promise<string>
  /** Pushes an image of `lower`, from any registry, with the layers of `upper` on top. Returns its digest. */
  stackImages(lower: string, upper: string, ref: string): Promise<string>
}

export function openRegistry({ prefix, ...access }: RegistrySettings): Registry {
  const { isInsecure } = access
  const [ownHost = ''] = prefix.split('/')
  const find = (image: string): ImageLocation => {
    const { host, ...location } = locate(image)
    return { ...location, at: connect(host, { ...access, isInsecure: isInsecure && host === ownHost }) }
  }
  return {
    prefix,
    host: ownHost,
    isInsecure,
    holds: (image) => image.startsWith(`${prefix}/`),
    async deleteImage(image, digest) {
      const { at, name } = find(image)
      // 405, or 400 from Harbor and others: the registry does not support deletion.
      const expected = [202, 200, 204, 400, 404, 405]
      await at.send(`${at.pathOf(name)}/manifests/${digest}`, { method: 'DELETE' }, expected)
    },
    pushLayer: (ref, layer) => putLayerImage(find(ref), layer),
    findDigest: (image) => findDigest(find(image)),
    stackImages: async (lower, upper, ref) =>
      stackImages(await readImage(find(lower)), await readImage(find(upper)), find(ref)),
  }
}
