// Completes what dying processes left in the middle: deletions that were marked, images that the engine has and
// no row names any more. Images that the engine has lost, to a deletion whose answer never came or to somebody's
// cleaning, are built again.
import type { Context } from '../../context.ts'
import { HostedInUse, HostedUnavailable } from '../../hosted/driver.ts'
import { listReady, listStuckDeletions, listUnknownRefs, rebuild } from './build-queries.ts'
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
    // Read before the engine is asked: what is built meanwhile is not missed.
    const ready = await listReady(ctx.db)
    const held = await driver.listImages()
    for (const ref of await listUnknownRefs(ctx.db, held)) await driver.deleteImage(ref)
    const lost = ready.filter(({ ref }) => !held.includes(ref))
    if (lost.length === 0) return
    ctx.log.warn({ refs: lost.map(({ ref }) => ref) }, 'The engine has lost images, which are built again.')
    await rebuild(
      ctx.db,
      lost.map(({ id }) => id),
    )
  } catch (error) {
    if (!(error instanceof HostedUnavailable || error instanceof HostedInUse)) throw error
    ctx.log.warn({ err: error }, 'Images of hosted clusters could not be swept; the next round tries again.')
  }
}
