// Completes interrupted deletions, and deletes images in the engine that have no row. Images that the engine has lost, by an
// interrupted deletion or by hand, are built again.
import type { Context } from '../../../context.ts'
import { eachBatchApart, eachRowApart } from '../../../db/each-row.ts'
import { HostedInUse, HostedUnavailable } from '../../../hosted/driver.ts'
import { listReady, listStuckDeletions, listUnknownRefs, rebuild } from './build-queries.ts'
import { deleteRow } from './delete.ts'

/** Longer than an engine may take for a deletion. */
const stuckAfterSeconds = 120

export async function sweepImages(ctx: Context): Promise<void> {
  const driver = ctx.hosted
  if (driver === null) return
  try {
    const stuck = await listStuckDeletions(ctx.db, stuckAfterSeconds)
    const isOutage = (error: unknown) => error instanceof HostedUnavailable
    await eachRowApart(
      ctx,
      'agent_images_stuck',
      stuck,
      ({ id }) => id,
      async ({ id, organizationId, clusterId, ref }) => {
        await driver.deleteImage(ref)
        await deleteRow(ctx, { kind: 'system' }, organizationId, clusterId, id)
      },
      { isOutage },
    )
    // Read before the engine's list, so that an image built in between does not count as lost.
    const ready = await listReady(ctx.db)
    const held = await driver.listImages()
    const unknown = await listUnknownRefs(ctx.db, held)
    await eachRowApart(ctx, 'agent_images_stuck', unknown, String, (ref) => driver.deleteImage(ref), {
      isOutage,
    })
    const lost = ready.filter(({ ref }) => !held.includes(ref))
    if (lost.length === 0) return
    ctx.log.warn({ refs: lost.map(({ ref }) => ref) }, 'The engine has lost images, which are built again.')
    await eachBatchApart(
      ctx,
      'agent_images_lost',
      lost,
      ({ id }) => id,
      (some) =>
        rebuild(
          ctx.db,
          some.map(({ id }) => id),
        ),
    )
  } catch (error) {
    if (!(error instanceof HostedUnavailable || error instanceof HostedInUse)) throw error
    ctx.log.warn(
      { err: error },
      'Images of hosted clusters could not be swept; this is tried again in a minute.',
    )
  }
}
