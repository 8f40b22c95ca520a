import type { Context } from '../src/context.ts'
import { newId } from '../src/lib/ids.ts'
import { inTransaction } from '../src/db/transaction.ts'
import { claimDue, followSettings, listChanged, listDue } from '../src/webhooks/poll-queries.ts'
import { pollRepository } from '../src/webhooks/poll.ts'

/** Carries out the polls that are due by the clock of `ctx`. */
export async function pollDue(ctx: Context): Promise<void> {
  const now = ctx.now().toISOString()
  await followSettings(ctx.db, await listChanged(ctx.db), now)
  const pollSome = async (): Promise<void> => {
    const ids = await listDue(ctx.db, now, 0)
    const due = await inTransaction(ctx.db, (trx) => claimDue(trx, ids, { now, claim: newId() }))
    await Promise.all(due.map((claim) => pollRepository(ctx, claim)))
    if (due.length > 0) await pollSome()
  }
  await pollSome()
}
