import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import { giveUpAt } from '../../../notifications/outbox/enqueue.ts'
import { subjectOf } from '../services/audit.ts'
import { isEnabled } from '../services/present.ts'
import * as services from '../services/queries.ts'
import * as deliveries from './queries.ts'

/** Makes the delivery due now, in whatever state it is; its id stays the same. */
export async function redeliver(
  { ctx, org, caller }: RequestContext,
  serviceId: string,
  id: string,
): Promise<deliveries.DeliveryRow> {
  return inTransaction(ctx.db, async (trx) => {
    const service = await services.lockInOrg(trx, org.id, serviceId)
    const delivery = service && (await deliveries.findOfService(trx, org.id, serviceId, id))
    if (service === undefined || delivery === undefined) throw notFound('No delivery found')
    if (!isEnabled(service)) throw refused('The notification service is disabled; enable it first.')
    const now = ctx.now()
    await deliveries.setPending(trx, org.id, delivery, { now: now.toISOString(), giveUpAt: giveUpAt(now) })
    const after = await deliveries.findOfService(trx, org.id, serviceId, id)
    if (after === undefined) throw new Error('A delivery vanished while its service was locked.')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'NOTIFICATION_DELIVERY_REDELIVERED',
      subject: subjectOf(service),
      data: { delivery_id: id },
    })
    return after
  })
}
