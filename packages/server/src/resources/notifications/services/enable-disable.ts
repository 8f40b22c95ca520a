import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { AuditType } from '../../../audit/types.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { discardPending } from '../../../notifications/delivery/dead-letters.ts'
import { subjectOf } from './audit.ts'
import { isEnabled } from './present.ts'
import * as services from './queries.ts'

/** Also repairs a broken service. Discarded deliveries stay discarded; they can be redelivered. */
export const enableService = (
  { ctx, org, caller }: RequestContext,
  id: string,
): Promise<services.ServiceRow> =>
  writeAndAudit({ ctx, org, caller }, id, 'NOTIFICATION_SERVICE_ENABLED', async (trx, service) => {
    if (isEnabled(service)) return false
    await services.updateInOrg(trx, org.id, id, {
      disabled_at: null,
      broken_at: null,
      broken_reason: null,
      dead_letters_in_a_row: 0,
      listening_since: ctx.now().toISOString(),
    })
    return true
  })

/** Discards pending deliveries. A service that is enabled again gets only later events. */
export const disableService = (
  { ctx, org, caller }: RequestContext,
  id: string,
): Promise<services.ServiceRow> =>
  writeAndAudit({ ctx, org, caller }, id, 'NOTIFICATION_SERVICE_DISABLED', async (trx, service) => {
    if (service.disabled_at !== null) return false
    const now = ctx.now().toISOString()
    await services.updateInOrg(trx, org.id, id, { disabled_at: now })
    await discardPending(trx, org.id, id, now)
    return true
  })

/** `write` returns false when there is nothing to change. */
async function writeAndAudit(
  { ctx, org, caller }: RequestContext,
  id: string,
  type: AuditType,
  write: (trx: Trx, service: services.ServiceRow) => Promise<boolean>,
): Promise<services.ServiceRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await services.getLocked(trx, org.id, id)
    if (!(await write(trx, before))) return before
    await recordAudit(trx, byCaller(caller), { organizationId: org.id, type, subject: subjectOf(before) })
    return services.getInOrg(trx, org.id, id)
  })
}
