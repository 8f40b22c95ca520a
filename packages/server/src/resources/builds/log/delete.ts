import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller } from '../../../auth/caller.ts'
import { release, deleteReleased } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import type { JobAddress } from '../../addresses/jobs.ts'
import { deleteCheckpoints } from './rows/checkpoint-queries.ts'
import * as logs from './queries.ts'

/** Later output of the job is not stored either. */
export async function deleteLog(ctx: Context, orgId: string, caller: Caller, job: JobAddress): Promise<void> {
  const keys = await inTransaction(ctx.db, async (trx) => {
    const released = await logs.lockBlobs(trx, job.id)
    if (!(await logs.markDeleted(trx, orgId, job.id))) throw notFound('No log found')
    await logs.deleteChunks(trx, job.id)
    await deleteCheckpoints(trx, job.id)
    await release(trx, released)
    await recordAudit(trx, byCaller(caller), {
      organizationId: orgId,
      type: 'JOB_LOG_DELETED',
      subject: { type: 'Job', uuid: job.id, name: null },
      data: { build_id: job.build_id },
    })
    return released
  })
  // The log is gone for readers; a failure here is repaired by the deletion of unclaimed objects.
  await deleteReleased(ctx.db, ctx.blobs, keys).catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'An object of a deleted log could not be removed yet.')
  })
}
