// The transaction that makes a job runnable claims it for an agent that waits in this process. That saves the notification, the
// claim's own transaction, and the time of both. The agent gets the best job of its queue, as with any claim; if that is another
// job, or none, the queue is notified of the new one as usual. A fair queue always claims by itself, so that its claims follow each other.
import type { Context } from '../../context.ts'
import { deferUntilEnd } from '../../db/batch.ts'
import type { Trx } from '../../db/pool.ts'
import { bestFor, claimsOf } from './claim.ts'
import type { Dispatcher, RunnableJob } from './dispatcher.ts'

/**
 * To call after the statement that makes the job runnable. If another process assigns a job to the agent at the same time, the
 * transaction fails with an error that `isAgentTaken`, so only a transaction that is then retried may do this.
 */
export async function claimInside(
  trx: Trx,
  ctx: Context,
  dispatcher: Dispatcher,
  job: RunnableJob,
): Promise<void> {
  const reservation = dispatcher.reserve(job)
  if (reservation === null) return
  const { queue, claimant, end } = reservation
  await deferUntilEnd(trx, bestFor(ctx, queue, claimant), (rows) =>
    end(rows === null ? null : claimsOf(claimant, rows)),
  )
}
