import { byCaller, recordAudit, type Origin } from '../../../audit/record.ts'
import type { Context, RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { conflict } from '../../../lib/errors.ts'
import * as clusters from '../clusters/queries.ts'
import * as images from './queries.ts'
import { callDriver } from '../clusters/hosted-driver.ts'

/**
 * Marks the image first, so that no queue can use it and no worker builds it. Then the engine deletes it, then we delete the row.
 * If the engine fails, the mark is cleared. If this process dies in between, a worker completes the deletion.
 */
export async function deleteAgentImage(
  { ctx, org, caller }: RequestContext,
  clusterId: string,
  imageId: string,
): Promise<void> {
  const image = await mark(ctx, org.id, clusterId, imageId)
  try {
    await callDriver(ctx, 'delete the image', (driver) => driver.deleteImage(image.ref))
  } catch (error) {
    await images.unmarkDeleting(ctx.db, org.id, imageId)
    throw error
  }
  await deleteRow(ctx, byCaller(caller), org.id, clusterId, imageId)
}

async function mark(
  ctx: Context,
  orgId: string,
  clusterId: string,
  imageId: string,
): Promise<images.AgentImageRow> {
  return inTransaction(ctx.db, async (trx) => {
    const image = await images.lockInCluster(trx, orgId, clusterId, imageId)
    const keys = await images.listQueueKeys(trx, orgId, clusterId, image.ref)
    if (keys.length > 0) {
      throw conflict(
        `this agent image is in use by one or more queues; reassign those queues before deleting it (${keys.join(', ')})`,
      )
    }
    await images.markDeleting(trx, orgId, imageId, ctx.now().toISOString())
    return image
  })
}

/** Deletes the row and records the audit event. Does nothing if the row is gone. */
export async function deleteRow(
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
