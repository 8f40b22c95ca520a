// Ends caches: those that no job uses, the least recently used ones above the limits, and blobs that no cache needs.
import type { Context } from '../../../context.ts'
import { changeRows, eachRowApart } from '../../../db/each-row.ts'
import * as caches from './queries.ts'

const dayMs = 24 * 60 * 60 * 1000
/** Longer than a job needs to read a cache, or to save one with blobs that are there. */
const unusedBlobMs = 7 * 60 * 60 * 1000

export async function expireCaches(ctx: Context): Promise<void> {
  const { days, pipelineBytes, organizationBytes } = ctx.config.caches
  const now = ctx.now().getTime()
  await changeRows(ctx, 'caches_unused', caches.expireUnused(new Date(now - days * dayMs).toISOString()))
  const over = await caches.listOverLimit(ctx.db, ctx.config.caches)
  const idOf = (one: caches.OverLimit) => one.pipeline_id ?? one.organization_id
  await eachRowApart(ctx, 'caches_over_limit', over, idOf, (one) =>
    caches.deleteLeastUsed(ctx.db, one, one.pipeline_id === null ? organizationBytes : pipelineBytes),
  )
  await changeRows(ctx, 'cache_blobs_unused', caches.markUnused(new Date(now).toISOString()))
  const before = new Date(now - unusedBlobMs).toISOString()
  await changeRows(ctx, 'cache_blobs_expired', caches.deleteUnusedSince(before))
}

/** Right after a cache was saved, so that no pipeline can save faster than caches are expired. */
export async function evictPipeline(ctx: Context, orgId: string, pipelineId: string): Promise<void> {
  const over = { organization_id: orgId, pipeline_id: pipelineId }
  await caches.deleteLeastUsed(ctx.db, over, ctx.config.caches.pipelineBytes)
}
