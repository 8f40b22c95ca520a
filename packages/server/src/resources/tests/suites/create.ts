import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { hashToken, newId, newToken } from '../../../lib/ids.ts'
import { slugOf } from '../../pipelines/pipelines/rules.ts'
import { giveToTeams } from './give-to-teams.ts'
import * as suites from './queries.ts'
import { readFields } from './rules.ts'
import type { CreateSuiteBody } from './schema.ts'

export async function createSuite(
  { ctx, org, caller }: RequestContext,
  { name, team_ids: teamIds, ...settings }: CreateSuiteBody,
): Promise<{ row: suites.SuiteRow; token: string }> {
  const [id, token, slug] = [newId(), newToken('mrst_'), slugOf(name)]
  const { sealed, keyId } = ctx.keys.seal(token)
  const fields = { default_branch: null, ...readFields(settings), name, slug }
  return inTransaction(ctx.db, async (trx) => {
    await suites.insert(trx, {
      id,
      organization_id: org.id,
      token_hash: hashToken(token),
      token_sealed: sealed,
      token_key_id: keyId,
      created_by: caller.user.id,
      ...fields,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SUITE_CREATED',
      subject: { type: 'Suite', uuid: id, name },
      data: fields,
    })
    await giveToTeams(trx, org, caller, { id, name }, teamIds ?? [])
    return { row: await suites.getBySlug(trx, org, caller, slug), token }
  })
}
