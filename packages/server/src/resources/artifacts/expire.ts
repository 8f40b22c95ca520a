// Retention of artifacts: expires files after a number of days, and fails artifacts whose file never arrived.
import { release, deleteUnclaimed } from '../../blobs/unclaimed.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { deleteFiles, keysOf } from './delete.ts'
import * as artifacts from './queries.ts'
import type { Leftover } from './queries.ts'

const batch = 200

export async function expireArtifacts(ctx: Context): Promise<void> {
  await inBatches(ctx, artifacts.expire)
  await inBatches(ctx, artifacts.failMissing)
}

/** Deletes objects of any kind that no row refers to. */
export async function deleteUnusedBlobs(ctx: Context): Promise<void> {
  await deleteUnclaimed(ctx.db, ctx.blobs)
  await ctx.blobs.tidy(new Date(ctx.now().getTime() - 2 * 24 * 60 * 60 * 1000))
}

async function inBatches(
  ctx: Context,
  expire: (trx: Trx, limit: number) => Promise<Leftover[]>,
): Promise<void> {
  for (;;) {
    const leftovers = await inTransaction(ctx.db, async (trx) => {
      const expired = await expire(trx, batch)
      await release(trx, keysOf(expired))
      return expired
    })
    await deleteFiles(ctx, leftovers)
    if (leftovers.length < batch) return
  }
}
