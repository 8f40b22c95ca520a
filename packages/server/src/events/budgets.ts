// Appends events of budgets to the outbox. Only notifications read these.
import { sql } from 'kysely'
import type { Trx } from '../db/pool.ts'

interface Reached {
  id: string
  /** `2026-11`. */
  month: string
  /** Percent of the amount. */
  share: number
  amountMicros: number
  spentMicros: number
}

export async function publishBudget(
  trx: Trx,
  organizationId: string,
  { id, month, share, amountMicros, spentMicros }: Reached,
  at: string,
): Promise<void> {
  const data = { budget_id: id, month, share, amount_micros: amountMicros, spent_micros: spentMicros }
  await sql`
    insert into events (organization_id, kind, data, created_at)
    values (${organizationId}, 'budget.reached', ${JSON.stringify(data)}::jsonb, ${at})`.execute(trx)
}
