import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden } from '../../../lib/errors.ts'
import * as suites from './queries.ts'

export async function deleteSuite({ ctx, org, caller }: RequestContext, slug: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const suite = await suites.lockBySlug(trx, org, caller, slug)
    if (!suite.may_manage) throw forbidden()
    await suites.deleteInOrg(trx, org.id, suite.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SUITE_DELETED',
      subject: { type: 'Suite', uuid: suite.id, name: suite.name },
    })
  })
}
