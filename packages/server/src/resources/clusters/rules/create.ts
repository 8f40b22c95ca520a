import { checkCondition } from '@millrace/engine/conditions/check.ts'
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import * as rules from './queries.ts'
import type { CreateRuleBody } from './schema.ts'

export async function createRule(
  { ctx, org, caller }: RequestContext,
  { type, value }: CreateRuleBody,
): Promise<rules.RuleRow> {
  const conditions = value.conditions ?? []
  refuseWrongConditions(conditions)
  const { source_pipeline: source, target_pipeline: target } = value
  return inTransaction(ctx.db, async (trx) => {
    const found = await rules.holdPipelines(trx, org.id, [source, target])
    const [from, to] = [pick(found, 'source_pipeline', source), pick(found, 'target_pipeline', target)]
    if (from.id === to.id) throw refused('source_pipeline and target_pipeline must be two pipelines.')
    const rule = {
      id: newId(),
      organization_id: org.id,
      type,
      source_pipeline_id: from.id,
      target_pipeline_id: to.id,
      conditions,
    }
    await rules.insert(trx, { ...rule, created_by: caller.user.id })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'RULE_CREATED',
      subject: { type: 'Rule', uuid: rule.id, name: type },
      data: { type, source_uuid: from.id, target_uuid: to.id, conditions },
    })
    return rules.getVisible(trx, org, caller, rule.id)
  })
}

function refuseWrongConditions(conditions: readonly string[]): void {
  for (const [index, condition] of conditions.entries()) {
    const checked = checkCondition(condition, 'filter')
    if (checked.ok) continue
    throw refused(
      `value.conditions[${index}] is not a condition: ${checked.message}, at character ${checked.offset + 1}`,
    )
  }
}

/** An id names a pipeline before a slug that looks like one does. */
function pick(found: readonly rules.NamedPipeline[], field: string, name: string): rules.NamedPipeline {
  const pipeline =
    found.find(({ id }) => id === name.toLowerCase()) ?? found.find(({ slug }) => slug === name)
  if (pipeline === undefined)
    throw refused(`value.${field} "${name}" is not a pipeline of this organization.`)
  return pipeline
}
