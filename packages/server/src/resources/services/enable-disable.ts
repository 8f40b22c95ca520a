// Enable and disable.
import { byCaller, recordAudit } from '../../audit/record.ts'
import type { AuditType } from '../../audit/types.ts'
import type { Caller, Organization } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import type { Trx } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import { notFound } from '../../lib/errors.ts'
import { discardPending } from '../../notifications/delivery/dead-letters.ts'
import { subjectOf } from './audit.ts'
import { isEnabled } from './present.ts'
import * as services from './queries.ts'

/** Clears whatever had stopped it. What was discarded meanwhile stays so; it can be redelivered. */
export const enableService = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  id: string,
): Promise<services.ServiceRow> =>
  change(ctx, org, caller, id, 'NOTIFICATION_SERVICE_ENABLED', async (trx, service) => {
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

/** What was not sent yet is not sent any more: a service that is enabled again begins with what is new then. */
export const disableService = (
  ctx: Context,
  org: Organization,
  caller: Caller,
  id: string,
): Promise<services.ServiceRow> =>
  change(ctx, org, caller, id, 'NOTIFICATION_SERVICE_DISABLED', async (trx, service) => {
    if (service.disabled_at !== null) return false
    const now = ctx.now().toISOString()
    await services.updateInOrg(trx, org.id, id, { disabled_at: now })
    await discardPending(trx, org.id, id, now)
    return true
  })

/** `decide` says whether anything changed. */
async function change(
  ctx: Context,
  org: Organization,
  caller: Caller,
  id: string,
  type: AuditType,
  decide: (trx: Trx, service: services.ServiceRow) => Promise<boolean>,
): Promise<services.ServiceRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await services.lockInOrg(trx, org.id, id)
    if (before === undefined) throw notFound('No notification service found')
    if (!(await decide(trx, before))) return before
    await recordAudit(trx, byCaller(caller), { organizationId: org.id, type, subject: subjectOf(before) })
    const after = await services.findInOrg(trx, org.id, id)
    if (after === undefined) throw new Error('A service vanished while it was locked.')
    return after
  })
}
