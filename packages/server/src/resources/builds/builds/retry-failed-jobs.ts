import { byCaller, recordAudit } from '../../../audit/record.ts'
import { carryOut } from '../../../conductor/act.ts'
import { advanceIn, type FollowUp } from '../../../conductor/advance.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import * as jobs from '../jobs/queries.ts'
import type { BuildAddress } from '../../addresses/builds.ts'
import * as builds from './queries.ts'

/** A build stays locked while its jobs are retried, so many are retried in several transactions. */
const mostAtOnce = 100

/** Returns the number of retried jobs. Skips jobs that another request retried first. */
export async function retryFailedJobs(
  { ctx, org, caller }: RequestContext,
  build: BuildAddress,
  states: readonly string[] | null,
): Promise<number> {
  const parentCanceled = await jobs.isParentCanceled(ctx.db, org.id, build.id)
  const ids = await builds.listFailedJobs(ctx.db, org.id, build.id, states)
  let retried = 0
  for (let start = 0; start < ids.length; start += mostAtOnce) {
    const some = ids.slice(start, start + mostAtOnce)
    const done = await retrySome({ ctx, org, caller }, build, some, parentCanceled)
    await carryOut(ctx, done.followUps)
    retried += done.count
  }
  return retried
}

async function retrySome(
  { ctx, org, caller }: RequestContext,
  build: BuildAddress,
  ids: readonly string[],
  parentCanceled: boolean,
): Promise<{ count: number; followUps: FollowUp[] }> {
  return inTransaction(ctx.db, async (trx) => {
    const followUps: FollowUp[] = []
    let count = 0
    for (const jobId of ids) {
      const advanced = await advanceIn(trx, ctx, org.id, build.id, { type: 'retry', jobId, parentCanceled })
      if (!advanced.ok && advanced.reason === 'build_canceled') throw refused(`${advanced.message}.`)
      if (!advanced.ok) continue
      await jobs.setRetriedBy(trx, org.id, jobId, caller)
      followUps.push(...advanced.followUps)
      count++
    }
    if (count > 0) {
      await recordAudit(trx, byCaller(caller), {
        organizationId: org.id,
        type: 'BUILD_FAILED_JOBS_RETRIED',
        subject: { type: 'Build', uuid: build.id, name: `${build.pipeline_slug} #${build.number}` },
        data: { retried_jobs_count: count },
      })
    }
    return { count, followUps }
  })
}
