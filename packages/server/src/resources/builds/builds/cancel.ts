import { byCaller, recordAudit } from '../../../audit/record.ts'
import { carryOut } from '../../../conductor/act.ts'
import { advanceIn } from '../../../conductor/advance.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound, refused } from '../../../lib/errors.ts'
import type { BuildAddress } from '../../addresses/builds.ts'
import * as builds from './queries.ts'

export async function cancelBuild(
  { ctx, org, caller }: RequestContext,
  build: BuildAddress,
  reason: string | null,
): Promise<void> {
  const followUps = await inTransaction(ctx.db, async (trx) => {
    const advanced = await advanceIn(trx, ctx, org.id, build.id, { type: 'cancel_build', reason })
    if (!advanced.ok) {
      throw advanced.reason === 'not_found' ? notFound('No build found') : refused(`${advanced.message}.`)
    }
    await builds.setCanceledBy(trx, org.id, build.id, caller.user.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'BUILD_CANCELED',
      subject: { type: 'Build', uuid: build.id, name: `${build.pipeline_slug} #${build.number}` },
      data: { reason },
    })
    return advanced.followUps
  })
  await carryOut(ctx, followUps)
}
