// The base image and those built here, with the runner in them as their topmost layer: a pod of such an image starts
// like any other. They are made on the side, by the registry, when an image is first wanted; until one is there, and
// where none can be made, a pod has the runner copied in before it starts.
import type { Runner } from '../docker/runner-volume.ts'
import type { Cluster } from './cluster.ts'
import { deleteRecord, findRecord, listRecords, shortHash, writeRecord } from './image-records.ts'
import { ensureRunner } from './runner-image.ts'
import type { Registry } from '../registry/registry.ts'

export interface Equipped {
  /** The equipped image to run for one that was built here, with its digest; null: there is none. */
  find(ref: string, digest: string): Promise<string | null>
  /** The same for the base image, whatever that is by now. */
  findBase(): Promise<string | null>
  /** The node did not find it: it is made anew when it is next wanted. */
  lose(image: string): Promise<void>
  /** Nothing is left of those made from an image built here. */
  forget(ref: string): Promise<void>
  /** Those of other runners and of images that are gone are removed, and the base image is looked at. */
  tidy(): Promise<void>
  /** Whatever is being made is done, or has been given up. */
  settle(): Promise<void>
}

export interface EquippedSettings {
  registry: Registry
  runner: Runner
  baseImage: string
  /** Told why an image could not be made. */
  warn(error: unknown, message: string): void
}

const mark = '-runner-'

/** Whether a pod of `image` runs what was built as `ref`. */
export const isMadeFrom = (image: string, ref: string): boolean =>
  image.startsWith(`${ref}@`) || image.startsWith(`${ref}${mark}`)

export const isEquipped = (registry: Registry, image: string): boolean =>
  registry.holds(image) && image.includes(mark)

export function openEquipped(cluster: Cluster, settings: EquippedSettings): Equipped {
  const { registry, runner, baseImage, warn } = settings
  const base = `${registry.prefix}/base:${shortHash(baseImage)}`
  const nameFor = (ref: string) => `${ref}${mark}${runner.digest}`
  const making = new Map<string, Promise<void>>()
  /** Not tried again before the next tidying. */
  const failed = new Set<string>()

  const make = async (ref: string, source: string, from: string) => {
    const name = nameFor(ref)
    const upper = await ensureRunner(cluster, registry, runner)
    const replaced = await findRecord(cluster, 'equipped', name)
    const digest = await registry.stackImages(source, upper, name)
    await writeRecord(cluster, 'equipped', '', { ref: name, digest, from })
    // What cannot be deleted now is for the registry to sweep.
    if (replaced !== null && replaced.digest !== digest) {
      await registry.deleteImage(name, replaced.digest).catch(() => {})
    }
  }
  const begin = (ref: string, work: () => Promise<void>) => {
    if (making.has(ref) || failed.has(ref)) return
    const made = work()
      .catch((error: unknown) => {
        failed.add(ref)
        if (registry.isClosed()) return
        warn(error, `The runner could not be put into ${ref}. Jobs with that image start more slowly.`)
      })
      .finally(() => making.delete(ref))
    making.set(ref, made)
  }
  const remove = async (name: string, digest: string) => {
    await registry.deleteImage(name, digest)
    await deleteRecord(cluster, 'equipped', name)
  }
  const makeBase = async () => {
    const from = await registry.findDigest(baseImage)
    const found = await findRecord(cluster, 'equipped', nameFor(base))
    if (found?.from !== from) await make(base, pinned(baseImage, from), from)
  }
  return {
    async find(ref, digest) {
      const found = await findRecord(cluster, 'equipped', nameFor(ref))
      if (found?.from === digest) return `${found.ref}@${found.digest}`
      begin(ref, () => make(ref, `${ref}@${digest}`, digest))
      return null
    },
    async findBase() {
      const found = await findRecord(cluster, 'equipped', nameFor(base))
      if (found !== null) return `${found.ref}@${found.digest}`
      begin(base, makeBase)
      return null
    },
    lose: async (image) => deleteRecord(cluster, 'equipped', image.replace(/@.*$/, '')),
    async forget(ref) {
      await making.get(ref)
      failed.delete(ref)
      const records = await listRecords(cluster, 'equipped')
      for (const { ref: name, digest } of records) if (isMadeFrom(name, ref)) await remove(name, digest)
    },
    async tidy() {
      failed.clear()
      const records = await listRecords(cluster, 'equipped')
      const wanted = new Set(
        [base, ...(await listRecords(cluster, 'image')).map(({ ref }) => ref)].map(nameFor),
      )
      for (const { ref: name, digest } of records) if (!wanted.has(name)) await remove(name, digest)
      if (records.some(({ ref }) => ref === nameFor(base))) begin(base, makeBase)
    },
    settle: async () => void (await Promise.all(making.values())),
  }
}

const pinned = (image: string, digest: string) => `${image.replace(/@.*$/, '')}@${digest}`
