import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import { findSender } from '../../../notifications/providers/table.ts'
import { sendPing } from './send-ping.ts'
import { isEnabled } from './present.ts'
import * as services from './queries.ts'

/** Returns the id of the delivery. */
export async function sendTest({ ctx, org, caller }: RequestContext, id: string): Promise<string> {
  return inTransaction(ctx.db, async (trx) => {
    const service = await services.getLocked(trx, org.id, id)
    if (!isEnabled(service)) throw refused('The notification service is disabled; enable it first.')
    if (findSender(service.provider) === undefined) {
      throw refused(`The provider ${service.provider} sends nothing, so there is nothing to test.`)
    }
    return sendPing(trx, ctx, org, caller, service)
  })
}
