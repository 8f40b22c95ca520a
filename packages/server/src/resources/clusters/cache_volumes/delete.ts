import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { Caller, Organization } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { HostedDriver } from '../../../hosted/driver.ts'
import { notFound } from '../../../lib/errors.ts'
import * as volumes from './queries.ts'

/**
 * Copies of running jobs stay until the jobs end, and are not saved then. If the engine fails, the volumes are restored. If this
 * process dies, they stay `dropping`, and hosted-agents/cache-volumes.ts deletes them.
 */
export async function deleteTag(
  ctx: Context,
  driver: HostedDriver,
  org: Organization,
  caller: Caller,
  cluster: { id: string; name: string },
  tag: string,
): Promise<void> {
  const markDropping = () =>
    inTransaction(ctx.db, (trx) => volumes.setTagDropping(trx, org.id, cluster.id, tag))
  const deleted: string[] = []
  let { dropping, attached } = await markDropping()
  if (dropping.length + attached === 0) throw notFound(`No cache volume found for tag: ${tag}`)
  // A job may save another volume while the engine deletes these, so repeat until there is none.
  while (dropping.length > 0) {
    try {
      for (const { id, isBusy } of dropping) if (!isBusy) await driver.deleteSnapshot(id)
    } catch (error) {
      await volumes.restore(ctx.db, org.id, dropping)
      throw error
    }
    deleted.push(...dropping.map(({ id }) => id))
    await volumes.deleteRows(
      ctx.db,
      org.id,
      dropping.filter(({ isBusy }) => !isBusy).map(({ id }) => id),
    )
    ;({ dropping, attached } = await markDropping())
  }
  await inTransaction(ctx.db, async (trx) => {
    await volumes.markDeleted(trx, org.id, cluster.id, tag, ctx.now().toISOString())
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'CACHE_VOLUME_DELETED',
      subject: { type: 'Cluster', uuid: cluster.id, name: cluster.name },
      data: { tag, volumes: deleted, attached },
    })
  })
}
