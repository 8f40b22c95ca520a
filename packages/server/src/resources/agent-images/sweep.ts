// Completes what dying processes left in the middle: deletions that were marked, images that the engine has and
// no row names any more.
import type { Context } from '../../context.ts'
import { HostedUnavailable } from '../../hosted/driver.ts'
import { listStuckDeletions, listUnknownRefs } from './build-queries.ts'
import { forgetImage } from './delete.ts'

/** Longer than an engine may take for a deletion that is still being asked for. */
const stuckAfterSeconds = 120

export async function sweepImages(ctx: Context): Promise<void> {
  const driver = ctx.hosted
  if (driver === null) return
  try {
    for (const { id, organizationId, clusterId, ref } of await listStuckDeletions(
      ctx.db,
      stuckAfterSeconds,
    )) {
      await driver.deleteImage(ref)
      await forgetImage(ctx, { kind: 'system' }, organizationId, clusterId, id)
    }
    for (const ref of await listUnknownRefs(ctx.db, await driver.listImages())) await driver.deleteImage(ref)
  } catch (error) {
    if (!(error instanceof HostedUnavailable)) throw error
    ctx.log.warn({ err: error }, 'Images of hosted clusters could not be swept; the next round tries again.')
  }
}
