import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import type { Trx } from '../../../db/pool.ts'
import { validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { toMicros } from '../../clusters/queues/rules.ts'
import { holdIds } from '../../people/teams/queries.ts'
import { holdInOrg } from '../../pipelines/pipelines/queries.ts'
import { monthOf } from './month.ts'
import * as budgets from './queries.ts'
import type { CreateBudgetBody } from './schema.ts'

export async function createBudget(
  { ctx, org, caller }: RequestContext,
  body: CreateBudgetBody,
): Promise<budgets.BudgetRow> {
  const { amount, pipeline_id: pipelineId = null, team_id: teamId = null } = body
  if ((pipelineId === null) === (teamId === null))
    throw validationFailed('either pipeline_id or team_id must be given')
  const [id, now] = [newId(), ctx.now()]
  return inTransaction(ctx.db, async (trx) => {
    await holdSubject(trx, org.id, pipelineId, teamId)
    await budgets.insert(trx, {
      id,
      organization_id: org.id,
      pipeline_id: pipelineId,
      team_id: teamId,
      amount_micros: toMicros(amount),
      created_at: now.toISOString(),
      created_by: caller.user.id,
    })
    const budget = await budgets.getVisible(trx, org, caller, monthOf(now), id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'BUDGET_CREATED',
      subject: budgets.auditSubject(budget),
      data: { pipeline_id: pipelineId, team_id: teamId, amount },
    })
    return budget
  })
}

async function holdSubject(
  trx: Trx,
  orgId: string,
  pipelineId: string | null,
  teamId: string | null,
): Promise<void> {
  if (pipelineId !== null && (await holdInOrg(trx, orgId, pipelineId)) === undefined)
    throw validationFailed('pipeline_id is not a pipeline of this organization')
  if (teamId !== null && (await holdIds(trx, orgId, [teamId])).length === 0)
    throw validationFailed('team_id is not a team of this organization')
}
