import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { readValue } from './create.ts'
import * as rules from './queries.ts'
import type { UpdateRuleBody } from './schema.ts'

export async function updateRule(
  { ctx, org, caller }: RequestContext,
  id: string,
  { description, value }: UpdateRuleBody,
): Promise<rules.RuleRow> {
  return inTransaction(ctx.db, async (trx) => {
    const before = await rules.getVisible(trx, org, caller, id)
    await rules.updateInOrg(trx, org.id, before.id, {
      ...(description === undefined ? {} : { description: description || null }),
      ...(value === undefined ? {} : await readValue(trx, org.id, before.type, value)),
    })
    const after = await rules.getVisible(trx, org, caller, before.id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'RULE_UPDATED',
      subject: { type: 'Rule', uuid: after.id, name: after.type },
      data: changedAttributes(before, after, [
        'description',
        'source_pipeline_id',
        'target_pipeline_id',
        'conditions',
      ]),
    })
    return after
  })
}
