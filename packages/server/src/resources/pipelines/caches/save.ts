// Saves the cache of a job's step, or one with a key. The job asks which blobs are missing, sends those, and then saves. A sent blob is listed as
// unclaimed until then, so an upload that stops leaves nothing.
import type {
  StepCacheSaveRequest,
  StepCacheSaveResponse,
  StepCacheUploadsRequest,
  StepCacheUploadsResponse,
} from '@millrace/protocol/step-caches.ts'
import { announceAll, claimAll, release } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden, refused } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { evictPipeline } from './expire.ts'
import * as caches from './queries.ts'
import { getStepCache, reasonNotToSave, type CachingJob } from './restore.ts'
import { mostStoredBytes } from './rules.ts'
import { blobKey, writeUrl } from './urls.ts'

/** Returns uploads for the blobs that are missing. The others stay until the job can save. */
export async function announceBlobs(
  ctx: Context,
  job: CachingJob,
  { blobs }: StepCacheUploadsRequest,
): Promise<StepCacheUploadsResponse> {
  await requireSave(ctx, job)
  const sizes = new Map(blobs.map(({ digest, size }) => [digest, size]))
  const known = await caches.holdKnown(ctx.db, job.organizationId, job.pipelineId, [...sizes.keys()])
  const missing = [...sizes].filter(([digest]) => !known.has(digest))
  const uploads = await Promise.all(
    missing.map(async ([digest, size]) => {
      const id = newId()
      const key = blobKey(job.organizationId, job.pipelineId, id)
      return { key, digest, upload_id: id, url: await writeUrl(ctx, key, mostStoredBytes(size)) }
    }),
  )
  await announceAll(
    ctx.db,
    uploads.map(({ key }) => key),
  )
  return { uploads: uploads.map(({ digest, upload_id, url }) => ({ digest, upload_id, url })) }
}

/** Makes the blobs the newest cache of the step and branch. Of two jobs that save at once, the last one wins whole. */
export async function saveCache(
  ctx: Context,
  job: CachingJob,
  { platform, key, paths: keyedPaths, manifest, blobs, file_count }: StepCacheSaveRequest,
): Promise<StepCacheSaveResponse> {
  await requireSave(ctx, job)
  const { address, paths, branch, mostBytes } = await getStepCache(ctx, job, {
    platform,
    key,
    paths: keyedPaths,
  })
  const all = [manifest, ...blobs]
  const sizeBytes = blobs.reduce((sum, { size }) => sum + size, 0)
  if (sizeBytes > mostBytes) throw refused(`The cache has ${sizeBytes} bytes; ${mostBytes} is the limit.`)
  const sent = await findSent(ctx, job, all)
  const { organizationId, pipelineId } = job
  const storedBytes = await inTransaction(ctx.db, async (trx) => {
    const taken = new Set(await caches.insertBlobs(trx, organizationId, pipelineId, sent))
    await claimAll(trx, [...taken])
    // Another job has sent the same blobs meanwhile.
    await release(
      trx,
      sent.map(({ key }) => key).filter((key) => !taken.has(key)),
    )
    const stored = await caches.lockBlobs(
      trx,
      organizationId,
      pipelineId,
      all.map(({ digest }) => digest),
    )
    const found = all.map(({ digest, size }) => {
      const blob = stored.get(digest)
      if (blob?.size !== size) throw refused('Some blobs of the cache are missing. Announce and send them.')
      return blob
    })
    const bytes = [...stored.values()].reduce((sum, blob) => sum + blob.storedBytes, 0)
    const cache = {
      ...address,
      branch,
      paths,
      fileCount: file_count,
      sizeBytes,
      storedBytes: bytes,
      jobId: job.id,
      at: ctx.now().toISOString(),
    }
    await caches.replaceCache(
      trx,
      organizationId,
      cache,
      found.map(({ id }) => id),
    )
    return bytes
  })
  await evictPipeline(ctx, organizationId, pipelineId)
  return { stored_bytes: storedBytes }
}

async function requireSave(ctx: Context, job: CachingJob): Promise<void> {
  const reason = await reasonNotToSave(ctx, job)
  if (reason !== null) throw forbidden(`The cache is not saved: ${reason}.`)
}

const atOnce = 16

/** The uploads whose bytes are in the store. Those of one digest count once. */
async function findSent(
  ctx: Context,
  { organizationId, pipelineId }: CachingJob,
  blobs: ReadonlyArray<StepCacheSaveRequest['manifest']>,
): Promise<caches.NewBlob[]> {
  const wanted = new Map(
    blobs.flatMap((blob) =>
      blob.upload_id
        ? [[blob.digest, { ...blob, key: blobKey(organizationId, pipelineId, blob.upload_id.toLowerCase()) }]]
        : [],
    ),
  )
  const queue = [...wanted.values()]
  const sent: caches.NewBlob[] = []
  const look = async () => {
    for (let blob = queue.pop(); blob !== undefined; blob = queue.pop()) {
      const { digest, size, key } = blob
      const found = await ctx.blobs.head(key)
      if (found === null || found.size > mostStoredBytes(size))
        throw refused('A blob of the cache was not sent, or is larger than announced.')
      sent.push({ digest, size, key, storedBytes: found.size })
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, queue.length) }, look))
  return sent
}
