// Deletes caches for people. Their blobs are deleted later, when no other cache needs them.
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as caches from './queries.ts'

interface CachingPipeline {
  id: string
  slug: string
}

export async function deleteCache(
  { ctx, org, caller }: RequestContext,
  pipeline: CachingPipeline,
  id: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const deleted = await caches.deleteOne(trx, org.id, pipeline.id, id)
    if (deleted === undefined) throw notFound('No cache found')
    const { name, branch, platform } = deleted
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CACHE_DELETED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.slug },
      data: { id, name, branch, platform },
    })
  })
}

export async function deleteCaches(
  { ctx, org, caller }: RequestContext,
  pipeline: CachingPipeline,
  filter: caches.CacheFilter,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const count = await caches.deleteSome(trx, org.id, pipeline.id, filter)
    if (count === 0) return
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CACHE_DELETED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.slug },
      data: { name: filter.name ?? null, branch: filter.branch ?? null, caches: count },
    })
  })
}
