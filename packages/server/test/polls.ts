import type { Context } from '../src/context.ts'
import { newId } from '../src/lib/ids.ts'
import { claimDue, followSettings } from '../src/webhooks/poll-queries.ts'
import { pollRepository } from '../src/webhooks/poll.ts'

/** Carries out the polls that are due by the clock of `ctx`. */
export async function pollDue(ctx: Context): Promise<void> {
  const now = ctx.now().toISOString()
  await followSettings(ctx.db, now)
  const pollSome = async (): Promise<void> => {
    const due = await claimDue(ctx.db, { now, claim: newId(), ending: 0 })
    await Promise.all(due.map((claim) => pollRepository(ctx, claim)))
    if (due.length > 0) await pollSome()
  }
  await pollSome()
}
