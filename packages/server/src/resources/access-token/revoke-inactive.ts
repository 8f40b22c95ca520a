// An organization may say after how many idle days it no longer trusts a token. Each organization rules over itself
// only: the token keeps the others, and is revoked when it reaches none any more.
import { recordAudit } from '../../audit/record.ts'
import type { Db } from '../../db/pool.ts'
import { inTransaction } from '../../db/transaction.ts'
import * as accessTokens from './queries.ts'

/** Running it again, or twice at once, changes nothing more. */
export async function revokeInactiveTokens(db: Db): Promise<void> {
  for (const id of await accessTokens.listIdsOfInactive(db)) await takeFromOrganizations(db, id)
}

async function takeFromOrganizations(db: Db, tokenId: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const token = await accessTokens.lockInactive(trx, tokenId)
    if (token === undefined || token.lost.length === 0) return
    const isRevoked = token.kept.length === 0
    if (isRevoked) await accessTokens.revoke(trx, tokenId)
    else await accessTokens.narrow(trx, tokenId, token.kept)
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
