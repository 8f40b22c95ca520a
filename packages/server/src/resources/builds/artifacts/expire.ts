// Fails artifacts whose file never arrived, and deletes objects that nothing refers to. Retention expires files.
import { sql } from 'kysely'
import { deleteReleased, listUnclaimed, release } from '../../../blobs/unclaimed.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { eachBatchApart, eachRowApart, mayBeTried } from '../../../db/each-row.ts'
import { deleteFiles, keysOf } from './delete.ts'
import * as artifacts from './queries.ts'

const batch = 200

export async function failMissingArtifacts(ctx: Context): Promise<void> {
  for (;;) {
    const at = ctx.now().toISOString()
    const missing = await artifacts.listMissing(
      ctx.db,
      mayBeTried('artifacts_missing', sql`artifacts.id::text`, at),
      batch,
    )
    await eachBatchApart(ctx, 'artifacts_missing', missing, String, async (ids) => {
      const leftovers = await inTransaction(ctx.db, async (trx) => {
        const failed = await artifacts.failMissing(trx, ids)
        await release(trx, keysOf(failed))
        return failed
      })
      await deleteFiles(ctx, leftovers)
    })
    if (missing.length < batch) return
  }
}

/** Deletes objects of any kind that no row refers to. */
export async function deleteUnusedBlobs(ctx: Context): Promise<void> {
  for (;;) {
    const at = ctx.now().toISOString()
    const keys = await listUnclaimed(ctx.db, mayBeTried('blobs', sql`unclaimed_blobs.key`, at), batch)
    await eachRowApart(ctx, 'blobs', keys, String, (key) => deleteReleased(ctx.db, ctx.blobs, [key]))
    if (keys.length < batch) break
  }
  await ctx.blobs.tidy(new Date(ctx.now().getTime() - 2 * 24 * 60 * 60 * 1000))
}
