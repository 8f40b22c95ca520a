// Announces that a budget is spent to 80 % or to all of it: once for each share, month and budget. The share is written in the
// transaction that appends the events, under the lock of the budget, so neither a second worker nor a killed one announces it again.
import { sql } from 'kysely'
import { recordAudit } from '../../../audit/record.ts'
import type { Context } from '../../../context.ts'
import { eachRowApart, mayBeTried } from '../../../db/each-row.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { publishBudget } from '../../../events/budgets.ts'
import { monthOf, type Month } from './month.ts'
import { inUnits } from './present.ts'
import * as budgets from './queries.ts'

const checkedAtOnce = 1000

const shares = [80, 100]

export async function checkBudgets(ctx: Context): Promise<void> {
  const now = ctx.now()
  const month = monthOf(now)
  const { rows } = await sql<{ id: string; organization_id: string }>`
    with ${budgets.spentIn(month, sql`select organization_id from budgets`)}
    select b.id, b.organization_id from budgets b ${budgets.joinSpent}
    where ${budgets.reachedPercent} > ${budgets.noticedPercent(month)}
      and ${mayBeTried('budgets', sql`b.id::text`, now.toISOString())}
    order by b.id limit ${checkedAtOnce}`.execute(ctx.db)
  await eachRowApart(
    ctx,
    'budgets',
    rows,
    ({ id }) => id,
    ({ id, organization_id: orgId }) => announce(ctx, month, orgId, id),
  )
}

const announce = (ctx: Context, month: Month, organizationId: string, id: string): Promise<void> =>
  inTransaction(ctx.db, async (trx) => {
    const budget = await budgets.lockInOrg(trx, organizationId, month, id)
    if (budget === undefined || budget.reached_percent <= budget.noticed_percent) return
    const { amount_micros: amountMicros, spent_micros: spentMicros } = budget
    await budgets.updateInOrg(trx, organizationId, id, {
      noticed_month: month.firstDay,
      noticed_percent: budget.reached_percent,
      last_notice_at: ctx.now().toISOString(),
      last_notice_percent: budget.reached_percent,
    })
    const reached = shares.filter(
      (share) => share > budget.noticed_percent && share <= budget.reached_percent,
    )
    for (const share of reached) {
      const facts = { id, month: month.name, share, amountMicros, spentMicros }
      await publishBudget(trx, organizationId, facts, ctx.now().toISOString())
      await recordAudit(
        trx,
        { kind: 'system' },
        {
          organizationId,
          type: 'BUDGET_REACHED',
          subject: budgets.auditSubject(budget),
          data: { month: month.name, share, amount: inUnits(amountMicros), spent: inUnits(spentMicros) },
        },
      )
    }
  })
