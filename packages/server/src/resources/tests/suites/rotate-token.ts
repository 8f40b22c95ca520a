import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden } from '../../../lib/errors.ts'
import { hashToken, newToken } from '../../../lib/ids.ts'
import * as suites from './queries.ts'

/** The earlier token stops working at once. The suite of a pipeline gets one that can be shown. */
export async function rotateToken(
  { ctx, org, caller }: RequestContext,
  slug: string,
): Promise<{ row: suites.SuiteRow; token: string }> {
  const token = newToken('mrst_')
  const { sealed, keyId } = ctx.keys.seal(token)
  return inTransaction(ctx.db, async (trx) => {
    const row = await suites.lockBySlug(trx, org, caller, slug)
    if (!row.may_manage) throw forbidden()
    await suites.updateInOrg(trx, org.id, row.id, {
      token_hash: hashToken(token),
      token_sealed: sealed,
      token_key_id: keyId,
    })
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'SUITE_API_TOKEN_REGENERATED',
      subject: { type: 'Suite', uuid: row.id, name: row.name },
    })
    return { row, token }
  })
}
