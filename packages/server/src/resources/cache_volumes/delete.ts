import { byCaller, recordAudit } from '../../audit/record.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { HostedDriver } from '../../hosted/driver.ts'
import { notFound } from '../../lib/errors.ts'
import * as volumes from './queries.ts'

/**
 * Copies that jobs have live until the jobs end, and are not kept then. Where the engine fails, everything is as it
 * was; where this process dies, the volumes are on their way out, and hosted/agents/volumes.ts goes on with them.
 */
export async function deleteTag(
  ctx: Context,
  driver: HostedDriver,
  org: Organization,
  caller: Caller,
  cluster: { id: string; name: string },
  tag: string,
): Promise<void> {
  const withdraw = () => inTransaction(ctx.db, (trx) => volumes.withdraw(trx, org.id, cluster.id, tag))
  const deleted: string[] = []
  let { withdrawn, attached } = await withdraw()
  if (withdrawn.length + attached === 0) throw notFound(`No cache volume found for tag: ${tag}`)
  // A job may keep another while the engine deletes these, so it is looked again until there is none.
  while (withdrawn.length > 0) {
    try {
      for (const { id, isBusy } of withdrawn) if (!isBusy) await driver.deleteSnapshot(id)
    } catch (error) {
      await volumes.giveBack(ctx.db, org.id, withdrawn)
      throw error
    }
    deleted.push(...withdrawn.map(({ id }) => id))
    await volumes.deleteRows(
      ctx.db,
      org.id,
      withdrawn.filter(({ isBusy }) => !isBusy).map(({ id }) => id),
    )
    ;({ withdrawn, attached } = await withdraw())
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
