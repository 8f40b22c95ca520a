// Copies of the base image and of built images that contain the runner as their topmost layer, so that a pod starts without
// copying it. The registry makes them in the background when an image is first used. Until one exists, an init container
// copies the runner into each pod.
import type { Runner } from '../driver.ts'
import type { Registry } from '../registry/registry.ts'
import type { Cluster } from './cluster.ts'
import { deleteRecord, findRecord, listRecords, saveRecord, shortHash } from './image-records.ts'
import { ensureRunner } from './runner-image.ts'

export interface PreparedImages {
  /** The prepared copy of a built image, with its digest; null: there is none yet. */
  find(ref: string, digest: string): Promise<string | null>
  /** The same for the base image, at its current digest. */
  findBase(): Promise<string | null>
  /** Makes the copy again at its next use, because a node could not pull it. */
  invalidate(image: string): Promise<void>
  deleteCopies(ref: string): Promise<void>
  /** Deletes copies with other runners or of deleted images, and updates the copy of the base image. */
  tidy(): Promise<void>
  whenIdle(): Promise<void>
}

const suffix = '-runner-'

/** Whether a pod of `image` runs what was built as `ref`. */
export const isMadeFrom = (image: string, ref: string): boolean =>
  image.startsWith(`${ref}@`) || image.startsWith(`${ref}${suffix}`)

export const isPrepared = (registry: Registry, image: string): boolean =>
  registry.holds(image) && image.includes(suffix)

export function openPreparedImages(cluster: Cluster, runner: Runner): PreparedImages {
  const { registry, settings, closing } = cluster
  const { baseImage, warn } = settings
  const base = `${registry.prefix}/base:${shortHash(baseImage)}`
  const nameFor = (ref: string) => `${ref}${suffix}${runner.digest}`
  const making = new Map<string, Promise<void>>()
  /** Not tried again before the next `tidy`. */
  const failed = new Set<string>()

  const make = async (ref: string, source: string, from: string) => {
    const name = nameFor(ref)
    const upper = await ensureRunner(cluster, runner)
    const replaced = await findRecord(cluster, 'equipped', name)
    const digest = await registry.stackImages(source, upper, name)
    await saveRecord(cluster, 'equipped', '', { ref: name, digest, from })
    // If this fails, the registry's own garbage collection has to delete it.
    if (replaced !== null && replaced.digest !== digest) {
      await registry.deleteImage(name, replaced.digest).catch(() => {})
    }
  }
  const begin = (ref: string, work: () => Promise<void>) => {
    if (making.has(ref) || failed.has(ref)) return
    const made = work()
      .catch((error: unknown) => {
        failed.add(ref)
        if (closing.signal.aborted) return
        warn(error, `The runner could not be put into ${ref}. Jobs with that image start more slowly.`)
      })
      .finally(() => making.delete(ref))
    making.set(ref, made)
  }
  const deleteCopy = async (name: string, digest: string) => {
    await registry.deleteImage(name, digest)
    await deleteRecord(cluster, 'equipped', name)
  }
  const makeBase = async () => {
    const from = await registry.findDigest(baseImage)
    const found = await findRecord(cluster, 'equipped', nameFor(base))
    if (found?.from !== from) await make(base, `${baseImage.replace(/@.*$/, '')}@${from}`, from)
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
    invalidate: async (image) => deleteRecord(cluster, 'equipped', image.replace(/@.*$/, '')),
    async deleteCopies(ref) {
      await making.get(ref)
      failed.delete(ref)
      const records = await listRecords(cluster, 'equipped')
      for (const { ref: name, digest } of records) if (isMadeFrom(name, ref)) await deleteCopy(name, digest)
    },
    async tidy() {
      failed.clear()
      const records = await listRecords(cluster, 'equipped')
      const wanted = new Set(
        [base, ...(await listRecords(cluster, 'image')).map(({ ref }) => ref)].map(nameFor),
      )
      for (const { ref: name, digest } of records) if (!wanted.has(name)) await deleteCopy(name, digest)
      if (records.some(({ ref }) => ref === nameFor(base))) begin(base, makeBase)
    },
    whenIdle: async () => void (await Promise.all(making.values())),
  }
}
