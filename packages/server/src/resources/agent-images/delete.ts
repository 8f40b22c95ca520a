import { byCaller, recordAudit, type Origin } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { conflict, notFound } from '../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import * as images from './queries.ts'
import { askService } from './hosted-driver.ts'

export const noImage = 'No agent image found with the given ID.'

/**
 * Marked first, so that no queue takes it and no worker builds it any more; then the service forgets it; then we do.
 * When the service does not, the mark is taken back. A process that dies in between leaves the mark, and a worker
 * completes what was asked.
 */
export async function deleteAgentImage(
  ctx: Context,
  org: Organization,
  caller: Caller,
  clusterId: string,
  imageId: string,
): Promise<void> {
  const image = await mark(ctx, org.id, clusterId, imageId)
  try {
    await askService(ctx, 'delete the image', (driver) => driver.deleteImage(image.ref))
  } catch (error) {
    await images.setDeleting(ctx.db, org.id, imageId, null)
    throw error
  }
  await forgetImage(ctx, byCaller(caller), org.id, clusterId, imageId)
}

async function mark(
  ctx: Context,
  orgId: string,
  clusterId: string,
  imageId: string,
): Promise<images.AgentImageRow> {
  return inTransaction(ctx.db, async (trx) => {
    const image = await images.lockInCluster(trx, orgId, clusterId, imageId)
    if (image === undefined) throw notFound(noImage)
    const keys = await images.listQueueKeys(trx, orgId, clusterId, image.ref)
    if (keys.length > 0) {
      throw conflict(
        `this agent image is in use by one or more queues; reassign those queues before deleting it (${keys.join(', ')})`,
      )
    }
    await images.setDeleting(trx, orgId, imageId, ctx.now().toISOString())
    return image
  })
}

/** The row and all that hangs on it, with its audit event; nothing where it is gone already. */
export async function forgetImage(
  ctx: Context,
  origin: Origin,
  orgId: string,
  clusterId: string,
  imageId: string,
): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const image = await images.deleteInCluster(trx, orgId, clusterId, imageId)
    if (image === undefined) return
    const cluster = await clusters.findInOrg(trx, orgId, clusterId)
    await recordAudit(trx, origin, {
      organizationId: orgId,
      type: 'AGENT_IMAGE_DELETED',
      subject: { type: 'Cluster', uuid: clusterId, name: cluster?.name ?? null },
      data: { agent_image_id: imageId, name: image.name, version: image.version },
    })
  })
}
