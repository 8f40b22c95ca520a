// The registry of our images: what Millrace itself does there. It brings the runner as an image, puts it on top of
// other images, and deletes images; everything else is between the registry, the builder and the nodes.
import type { Readable } from 'node:stream'
import { connect, type Access } from './http.ts'
import { findDigest, locate, putLayerImage, readImage, stackImages, type Place } from './images.ts'

export interface RegistrySettings extends Access {
  /** What the names of our images begin with: a host, and a path in it. */
  prefix: string
}

export interface Registry {
  prefix: string
  host: string
  isInsecure: boolean
  isClosed(): boolean
  /** Whether the image is one that can only have been built here. */
  holds(image: string): boolean
  /** Where the registry does not let images be deleted, it stays there unnamed. */
  deleteImage(name: string, digest: string): Promise<void>
  /** Makes an image of one layer and nothing else. Returns its digest. */
  pushLayer(ref: string, layer: Readable): Promise<string>
  /** The digest of what an image, in whatever registry, is now. */
  findDigest(image: string): Promise<string>
  /** Makes an image of `lower`, wherever that lies, with the layers of `upper` on top. Returns its digest. */
  stackImages(lower: string, upper: string, ref: string): Promise<string>
}

export function openRegistry({ prefix, ...access }: RegistrySettings): Registry {
  const { isInsecure } = access
  const [ownHost = ''] = prefix.split('/')
  const find = (image: string): Place => {
    const { host, ...place } = locate(image)
    return { ...place, at: connect(host, { ...access, isInsecure: isInsecure && host === ownHost }) }
  }
  return {
    prefix,
    host: ownHost,
    isInsecure,
    isClosed: () => access.closing.aborted,
    holds: (image) => image.startsWith(`${prefix}/`),
    async deleteImage(image, digest) {
      const { at, name } = find(image)
      // 405, and 400 with Harbor and others: this registry deletes nothing on demand.
      const expected = [202, 200, 204, 400, 404, 405]
      await at.send(`${at.pathOf(name)}/manifests/${digest}`, { method: 'DELETE' }, expected)
    },
    pushLayer: (ref, layer) => putLayerImage(find(ref), layer),
    findDigest: (image) => findDigest(find(image)),
    stackImages: async (lower, upper, ref) =>
      stackImages(await readImage(find(lower)), await readImage(find(upper)), find(ref)),
  }
}
