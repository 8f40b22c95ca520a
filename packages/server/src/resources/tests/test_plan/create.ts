import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { WorkOwner } from '../../../lib/threads.ts'
import * as suites from '../suites/queries.ts'
import { timeExamples, timeFiles } from './times.ts'
import * as plans from './queries.ts'
import { readInThread } from './read.ts'

/** Jobs ask at the same time: the first plan that is stored is that of all. */
export async function createPlan(
  { ctx, org, caller }: RequestContext,
  suiteId: string,
  bytes: Buffer,
  owner: WorkOwner,
): Promise<string> {
  const { identifier, files, examples } = await readInThread(owner, 'readPlan', bytes)
  const stored = await plans.find(ctx.db, org.id, suiteId, identifier)
  if (stored !== undefined) return stored
  const now = ctx.now()
  const suite = { org, caller, suiteId, now }
  const fileTimes = await timeFiles(ctx.db, suite, files)
  const exampleTimes = examples === '[]' ? '{}' : await timeExamples(ctx.db, suite, examples)
  const plan = await readInThread(owner, 'makePlan', { bytes, fileTimes, exampleTimes })
  return inTransaction(ctx.db, async (trx) => {
    await suites.holdInOrg(trx, org.id, suiteId)
    await plans.insert(trx, { organizationId: org.id, suiteId, identifier, plan, now })
    const first = await plans.find(trx, org.id, suiteId, identifier)
    await plans.expire(trx, org.id, suiteId, now)
    return first ?? plan
  })
}
