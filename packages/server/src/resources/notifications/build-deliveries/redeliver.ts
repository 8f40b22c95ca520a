import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { giveUpAt } from '../../../notifications/outbox/enqueue.ts'
import { setPending } from '../deliveries/queries.ts'
import * as deliveries from './queries.ts'

/** Makes the delivery due now, in whatever state it is; its id stays the same. */
export async function redeliverOfBuild(
  ctx: Context,
  orgId: string,
  buildId: string,
  id: string,
): Promise<deliveries.BuildDeliveryRow> {
  return inTransaction(ctx.db, async (trx) => {
    const delivery = await deliveries.findOfBuild(trx, orgId, buildId, id)
    if (delivery === undefined) throw notFound('No delivery found')
    const now = ctx.now()
    await setPending(trx, orgId, delivery, { now: now.toISOString(), giveUpAt: giveUpAt(now) })
    const after = await deliveries.findOfBuild(trx, orgId, buildId, id)
    if (after === undefined) throw notFound('No delivery found')
    return after
  })
}
