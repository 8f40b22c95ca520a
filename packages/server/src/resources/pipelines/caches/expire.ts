// Ends caches: those that no job uses, the least recently used ones above the limits, and blobs that no cache needs.
import type { Context } from '../../../context.ts'
import * as caches from './queries.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Longer than a job needs to read a cache, or to save one with blobs that are there. */
const unusedBlobMs = 7 * 60 * 60 * 1000
const batch = 500

export async function expireCaches(ctx: Context): Promise<void> {
  const { days, pipelineBytes, organizationBytes } = ctx.config.caches
  const now = ctx.now().getTime()
  await caches.expireUnused(ctx.db, new Date(now - days * dayMs).toISOString())
  for (const over of await caches.listOverLimit(ctx.db, ctx.config.caches)) {
    await caches.deleteLeastUsed(ctx.db, over, over.pipeline_id === null ? organizationBytes : pipelineBytes)
  }
  await caches.markUnused(ctx.db, new Date(now).toISOString())
  const before = new Date(now - unusedBlobMs).toISOString()
  while (!(await caches.deleteUnusedSince(ctx.db, before, batch)));
}

/** Right after a cache was saved, so that no pipeline can save faster than caches are expired. */
export async function evictPipeline(ctx: Context, orgId: string, pipelineId: string): Promise<void> {
  const over = { organization_id: orgId, pipeline_id: pipelineId }
  await caches.deleteLeastUsed(ctx.db, over, ctx.config.caches.pipelineBytes)
}
