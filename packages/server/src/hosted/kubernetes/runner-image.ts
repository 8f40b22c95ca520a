// The runner as an image in the registry, one per version. It is a layer for other images, or a container that copies the
// runner into a pod.
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import tar from 'tar-stream'
import { runnerPath, type Runner } from '../driver.ts'
import type { Cluster } from './cluster.ts'
import { deleteRecord, findRecord, listRecords, saveRecord } from './image-records.ts'

const repositoryOf = ({ registry }: Cluster) => `${registry.prefix}/runner`

/** Returns the name of the image. */
export async function ensureRunner(cluster: Cluster, runner: Runner): Promise<string> {
  const ref = `${repositoryOf(cluster)}:${runner.digest}`
  const found = await findRecord(cluster, 'runner', ref)
  if (found !== null) return `${ref}@${found.digest}`
  const digest = await cluster.registry.pushLayer(ref, layerOf(runner))
  await saveRecord(cluster, 'runner', '', { ref, digest })
  return `${ref}@${digest}`
}

/** The runner's files below `runnerPath`. Fixed times make the layer the same in every process. */
function layerOf(runner: Runner): Readable {
  const packing = tar.pack()
  const move = async () => {
    for await (const entry of runner.archive().pipe(tar.extract())) {
      const name = `${runnerPath.slice(1)}/${entry.header.name}`
      await pipeline(entry, packing.entry({ ...entry.header, name, mtime: new Date(0) }))
    }
    packing.finalize()
  }
  move().catch((error: unknown) => packing.destroy(error instanceof Error ? error : new Error(String(error))))
  return Readable.from(packing)
}

/** Deletes the images of other versions. Running pods have their own copy. */
export async function deleteOldRunners(cluster: Cluster, current: Runner): Promise<void> {
  const records = await listRecords(cluster, 'runner')
  for (const { ref, digest } of records.filter((one) => !one.ref.endsWith(`:${current.digest}`))) {
    await cluster.registry.deleteImage(repositoryOf(cluster), digest)
    await deleteRecord(cluster, 'runner', ref)
  }
}
