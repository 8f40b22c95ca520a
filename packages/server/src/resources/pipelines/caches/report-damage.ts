// A job found a blob missing or damaged. A store that has lost one object may have lost others, so all blobs of the pipeline are
// looked for. The limit of a pipeline's caches is a limit of this too.
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as caches from './queries.ts'
import type { CachingJob } from './restore.ts'

const atOnce = 16

export async function reportDamage(ctx: Context, job: CachingJob, digest: string): Promise<void> {
  const { organizationId, pipelineId } = job
  const missing = await listMissing(ctx, await caches.listKeys(ctx.db, organizationId, pipelineId))
  const damaged = [...new Set([digest, ...missing])]
  const count = await inTransaction(ctx.db, (trx) =>
    caches.deleteDamaged(trx, organizationId, pipelineId, damaged),
  )
  ctx.log.warn(
    { job_id: job.id, pipeline_id: pipelineId, digest, missing: missing.length, caches: count },
    'A blob of a cache is missing or damaged. The caches that need it were deleted.',
  )
}

async function listMissing(
  ctx: Context,
  blobs: ReadonlyArray<Pick<caches.BlobRow, 'digest' | 'blob_key'>>,
): Promise<string[]> {
  const queue = [...blobs]
  const missing: string[] = []
  const look = async () => {
    for (let blob = queue.pop(); blob !== undefined; blob = queue.pop()) {
      if ((await ctx.blobs.head(blob.blob_key)) === null) missing.push(blob.digest)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, queue.length) }, look))
  return missing
}
