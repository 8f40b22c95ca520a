import { recordAudit, type Origin } from '../../../audit/record.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { notFound } from '../../../lib/errors.ts'
import * as accessTokens from './queries.ts'

export async function revokeAccessToken(
  db: Db,
  origin: Origin,
  tokenId: string,
  data: Record<string, unknown> = {},
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const token = await accessTokens.revoke(trx, tokenId)
    if (token === undefined) throw notFound(`There is no valid token ${tokenId}.`)
    const memberships = await trx
      .selectFrom('organization_members')
      .select('organization_id')
      .where('user_id', '=', token.user_id)
      .execute()
    for (const { organization_id: organizationId } of memberships) {
      if (token.organization_ids !== null && !token.organization_ids.includes(organizationId)) continue
      await recordAudit(trx, origin, {
        organizationId,
        type: 'API_ACCESS_TOKEN_DELETED',
        subject: { type: 'ApiAccessToken', uuid: tokenId, name: token.description },
        data,
      })
    }
  })
}
