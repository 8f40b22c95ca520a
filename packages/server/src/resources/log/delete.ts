import { release, removeReleased } from '../../blobs/unclaimed.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import * as logs from './queries.ts'

/** What the job writes from now on is not kept either. */
export async function deleteLog(ctx: Context, orgId: string, jobId: string): Promise<void> {
  const keys = await inTransaction(ctx.db, async (trx) => {
    const key = await logs.lockBlob(trx, jobId)
    if (!(await logs.markDeleted(trx, orgId, jobId))) throw notFound('No log found')
    await logs.deleteChunks(trx, jobId)
    const released = key === null ? [] : [key]
    await release(trx, released)
    return released
  })
  // Whether it works now or later, the log is gone for everybody.
  await removeReleased(ctx.db, ctx.blobs, keys).catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'The object of a deleted log could not be removed yet.')
  })
}
