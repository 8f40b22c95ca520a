import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden } from '../../../lib/errors.ts'
import * as suites from './queries.ts'
import { readFields, suiteFields } from './rules.ts'
import type { UpdateSuiteBody } from './schema.ts'

export async function updateSuite(
  { ctx, org, caller }: RequestContext,
  slug: string,
  body: UpdateSuiteBody,
): Promise<suites.SuiteRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await suites.lockBySlug(trx, org, caller, slug)
    if (!before.may_manage) throw forbidden()
    const change = readFields(body)
    await suites.updateInOrg(trx, org.id, before.id, change)
    const after = await suites.getBySlug(trx, org, caller, change.slug ?? before.slug)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SUITE_UPDATED',
      subject: { type: 'Suite', uuid: after.id, name: after.name },
      data: changedAttributes(before, after, suiteFields),
    })
    return after
  })
}
