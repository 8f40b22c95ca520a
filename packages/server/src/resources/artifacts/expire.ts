// What time does to artifacts: files are kept for so many days, and those that never came are given up.
import { release, removeUnclaimed } from '../../blobs/unclaimed.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { cleanUp, keysOf } from './delete.ts'
import * as artifacts from './queries.ts'
import type { Leftover } from './queries.ts'

const batch = 200

export async function expireArtifacts(ctx: Context): Promise<void> {
  await inBatches(ctx, artifacts.expire)
  await inBatches(ctx, artifacts.giveUp)
}

/** Objects that nobody refers to, whatever they were. */
export async function deleteUnusedBlobs(ctx: Context): Promise<void> {
  await removeUnclaimed(ctx.db, ctx.blobs)
  await ctx.blobs.tidy(new Date(ctx.now().getTime() - 2 * 24 * 60 * 60 * 1000))
}

async function inBatches(
  ctx: Context,
  change: (trx: Trx, limit: number) => Promise<Leftover[]>,
): Promise<void> {
  for (;;) {
    const leftovers = await inTransaction(ctx.db, async (trx) => {
      const changed = await change(trx, batch)
      await release(trx, keysOf(changed))
      return changed
    })
    await cleanUp(ctx, leftovers)
    if (leftovers.length < batch) return
  }
}
