import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import { monthOf } from './month.ts'
import * as budgets from './queries.ts'

export async function deleteBudget({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const budget = await budgets.lockInOrg(trx, org.id, monthOf(ctx.now()), id)
    if (budget === undefined) throw notFound('No budget found')
    await budgets.deleteInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'BUDGET_DELETED',
      subject: budgets.auditSubject(budget),
    })
  })
}
