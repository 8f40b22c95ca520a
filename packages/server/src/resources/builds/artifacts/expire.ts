// Fails artifacts whose file never arrived, and deletes objects that nothing refers to. Retention expires files.
import { release, deleteUnclaimed } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { deleteFiles, keysOf } from './delete.ts'
import * as artifacts from './queries.ts'

const batch = 200

export async function failMissingArtifacts(ctx: Context): Promise<void> {
  for (;;) {
    const leftovers = await inTransaction(ctx.db, async (trx) => {
      const failed = await artifacts.failMissing(trx, batch)
      await release(trx, keysOf(failed))
      return failed
    })
    await deleteFiles(ctx, leftovers)
    if (leftovers.length < batch) return
  }
}

/** Deletes objects of any kind that no row refers to. */
export async function deleteUnusedBlobs(ctx: Context): Promise<void> {
  await deleteUnclaimed(ctx.db, ctx.blobs)
  await ctx.blobs.tidy(new Date(ctx.now().getTime() - 2 * 24 * 60 * 60 * 1000))
}
