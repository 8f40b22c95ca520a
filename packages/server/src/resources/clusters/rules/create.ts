import { checkCondition } from '@millrace/engine/conditions/check.ts'
import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import type { Trx } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { refused } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { writeDocument } from './document.ts'
import * as rules from './queries.ts'
import type { CreateRuleBody, RuleType, RuleValueBody } from './schema.ts'

export async function createRule(
  { ctx, org, caller }: RequestContext,
  { type, description, value }: CreateRuleBody,
): Promise<rules.RuleRow> {
  return inTransaction(ctx.db, async (trx) => {
    const content = await readValue(trx, org.id, type, value)
    const id = newId()
    await rules.insert(trx, {
      id,
      organization_id: org.id,
      type,
      description: description || null,
      ...content,
      created_by: caller.user.id,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'RULE_CREATED',
      subject: { type: 'Rule', uuid: id, name: type },
      data: {
        type,
        source_uuid: content.source_pipeline_id,
        target_uuid: content.target_pipeline_id,
        conditions: content.conditions,
      },
    })
    return rules.getVisible(trx, org, caller, id)
  })
}

/** The columns that a value sets. Its pipelines cannot be deleted until the transaction ends. */
export async function readValue(trx: Trx, orgId: string, type: RuleType, value: RuleValueBody) {
  const conditions = value.conditions ?? []
  refuseWrongConditions(conditions)
  const { source_pipeline: source, target_pipeline: target } = value
  const found = await rules.holdPipelines(trx, orgId, [source, target])
  const [from, to] = [pick(found, 'source_pipeline', source), pick(found, 'target_pipeline', target)]
  if (from.id === to.id) throw refused('source_pipeline and target_pipeline must be two pipelines.')
  return {
    source_pipeline_id: from.id,
    target_pipeline_id: to.id,
    conditions,
    document: writeDocument(type, value),
  }
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
function pick(found: readonly rules.HeldPipeline[], field: string, name: string): rules.HeldPipeline {
  const pipeline =
    found.find(({ id }) => id === name.toLowerCase()) ?? found.find(({ slug }) => slug === name)
  if (pipeline === undefined)
    throw refused(`value.${field} "${name}" is not a pipeline of this organization.`)
  return pipeline
}
