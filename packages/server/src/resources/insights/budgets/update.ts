import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { toMicros } from '../../clusters/queues/rules.ts'
import { monthOf } from './month.ts'
import { inUnits } from './present.ts'
import * as budgets from './queries.ts'
import type { UpdateBudgetBody } from './schema.ts'

/** A share that is no longer reached with the new amount is announced again when it is reached again. */
export async function updateBudget(
  { ctx, org, caller }: RequestContext,
  id: string,
  { amount }: UpdateBudgetBody,
): Promise<budgets.BudgetRow> {
  const month = monthOf(ctx.now())
  return inTransaction(ctx.db, async (trx) => {
    const before = await budgets.lockInOrg(trx, org.id, month, id)
    if (before === undefined) throw notFound('No budget found')
    if (amount !== undefined) await budgets.updateInOrg(trx, org.id, id, { amount_micros: toMicros(amount) })
    const after = await budgets.getVisible(trx, org, caller, month, id)
    if (after.noticed_percent > after.reached_percent)
      await budgets.updateInOrg(trx, org.id, id, { noticed_percent: after.reached_percent })
    const shown = (row: budgets.BudgetRow) => ({ amount: inUnits(row.amount_micros) })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'BUDGET_UPDATED',
      subject: budgets.auditSubject(after),
      data: changedAttributes(shown(before), shown(after), ['amount']),
    })
    return after
  })
}
