// An organization can set after how many idle days tokens lose access to it. The token keeps its other organizations,
// and is revoked when none is left.
import { recordAudit } from '../../../audit/record.ts'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { eachRowApart } from '../../../db/each-row.ts'
import * as accessTokens from './queries.ts'

/** Idempotent, also when two processes run it at once. */
export async function revokeInactiveTokens(ctx: Context): Promise<void> {
  const ids = await accessTokens.listInactiveIds(ctx.db)
  await eachRowApart(ctx, 'tokens_inactive', ids, String, (id) => revokeInactiveToken(ctx.db, id))
}

async function revokeInactiveToken(db: Db, tokenId: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const token = await accessTokens.lockInactive(trx, tokenId)
    if (token === undefined || token.lost.length === 0) return
    const isRevoked = token.kept.length === 0
    if (isRevoked) await accessTokens.revoke(trx, tokenId)
    else await accessTokens.updateOrganizations(trx, tokenId, token.kept)
    for (const organizationId of token.lost) {
      await recordAudit(
        trx,
        { kind: 'system' },
        {
          organizationId,
          type: isRevoked ? 'API_ACCESS_TOKEN_DELETED' : 'API_ACCESS_TOKEN_ORGANIZATION_ACCESS_REVOKED',
          subject: { type: 'ApiAccessToken', uuid: tokenId, name: token.description },
          data: { reason: 'inactive', last_used_at: token.last_used_at },
        },
      )
    }
  })
}
