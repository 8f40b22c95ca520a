import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { hashToken, newId, newToken } from '../../../lib/ids.ts'
import { slugOf } from '../../pipelines/pipelines/rules.ts'
import * as suites from './queries.ts'
import type { CreateSuiteBody } from './schema.ts'

/** Only the token's hash is stored, so the token can be shown only now. */
export async function createSuite(
  { ctx, org, caller }: RequestContext,
  body: CreateSuiteBody,
): Promise<{ row: suites.SuiteRow; token: string }> {
  const [id, token, slug] = [newId(), newToken('mrst_'), slugOf(body.name)]
  const fields = { name: body.name, slug, default_branch: body.default_branch || null }
  return inTransaction(ctx.db, async (trx) => {
    await suites.insert(trx, {
      id,
      organization_id: org.id,
      token_hash: hashToken(token),
      created_by: caller.user.id,
      ...fields,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SUITE_CREATED',
      subject: { type: 'Suite', uuid: id, name: body.name },
      data: fields,
    })
    return { row: await suites.getBySlug(trx, org, caller, slug), token }
  })
}
