import { byCaller } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { forbidden } from '../../../lib/errors.ts'
import { createAccessToken } from '../access-token/create.ts'
import { expiryOf, requireOwnScopes } from '../access-tokens/rules.ts'
import * as accounts from '../service_accounts/queries.ts'
import * as tokens from './queries.ts'
import type { CreateServiceAccountTokenBody } from './schema.ts'

/** The token has no more scopes, addresses and time than that of the caller, and reaches only this organization. */
export async function createToken(
  { ctx, org, caller }: RequestContext,
  accountId: string,
  body: CreateServiceAccountTokenBody,
): Promise<tokens.ServiceAccountTokenRow & { token: string }> {
  requireOwnScopes(caller, body.scopes)
  const expiresAt = expiryOf(caller, body.expires_in_days, ctx.now())
  return inTransaction(ctx.db, async (trx) => {
    const account = await accounts.lockInOrg(trx, org.id, accountId)
    requireOwner({ org, caller }, account)
    if (org.role !== 'admin' && account.role === 'admin')
      throw forbidden('Only administrators create tokens of service accounts that are administrators')
    if (org.role !== 'admin' && (await tokens.restrictsTokens(trx, org.id)))
      throw forbidden(`In ${org.slug} only administrators create access tokens`)
    const { id, token } = await createAccessToken(trx, byCaller(caller), {
      email: account.email,
      scopes: body.scopes,
      organizationSlugs: [org.slug],
      description: body.description,
      expiresAt,
      allowedIpAddresses: caller.token.allowed_ip_addresses,
    })
    return { ...(await tokens.getOfAccount(trx, org.id, account.id, id)), token }
  })
}

/** Throws unless the caller is an administrator or one of the owners. */
export function requireOwner(
  { org, caller }: Pick<RequestContext, 'org' | 'caller'>,
  account: accounts.ServiceAccountRow,
): void {
  if (org.role !== 'admin' && !account.owners.some(({ id }) => id === caller.user.id))
    throw forbidden('Only administrators and the owners of a service account manage its tokens')
}
