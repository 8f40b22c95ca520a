import type { Context } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as statuses from './queries.ts'
import { enqueueReports } from './report.ts'

/** Undefined: the build has no such status. */
export const redeliver = (
  ctx: Context,
  orgId: string,
  build: { id: string; pipeline_id: string },
  id: string,
): Promise<statuses.StatusRow | undefined> =>
  inTransaction(ctx.db, async (trx) => {
    const status = await statuses.updateDue(trx, orgId, build.id, id, ctx.now().toISOString())
    if (status !== undefined) await enqueueReports(trx, [build.pipeline_id])
    return status
  })
