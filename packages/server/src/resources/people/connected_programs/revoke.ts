import { byCaller, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import * as accessTokens from '../access-token/queries.ts'
import * as programs from './queries.ts'

/** An administrator decides about one organization: a program that reaches others keeps those. */
export async function revokeProgram({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { kept, description, program, user_id } = await programs.lockInOrg(trx, org.id, id)
    const isRevoked = kept.length === 0
    if (isRevoked) await accessTokens.revoke(trx, id)
    else await accessTokens.updateOrganizations(trx, id, kept)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: isRevoked ? 'API_ACCESS_TOKEN_DELETED' : 'API_ACCESS_TOKEN_ORGANIZATION_ACCESS_REVOKED',
      subject: { type: 'ApiAccessToken', uuid: id, name: description },
      data: { program, user_id },
    })
  })
}
