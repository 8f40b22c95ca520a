import { byCaller, recordAudit } from '../../../audit/record.ts'
import { carryOut } from '../../../conductor/act.ts'
import { stopBuilds } from '../../../conductor/delete-builds.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as pipelines from './queries.ts'

/** Deletes the pipeline and cancels its jobs. Background tasks delete what its builds stored. */
export async function deletePipeline({ ctx, org, caller }: RequestContext, slug: string): Promise<void> {
  const followUps = await inTransaction(ctx.db, async (trx) => {
    const pipeline = await pipelines.deleteBySlug(trx, org.id, slug)
    if (pipeline === undefined) throw notFound('No pipeline found')
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'PIPELINE_DELETED',
      subject: { type: 'Pipeline', uuid: pipeline.id, name: pipeline.name },
    })
    return stopBuilds(trx, ctx.now().toISOString(), org.id, pipeline.id)
  })
  await carryOut(ctx, followUps)
}
