import { byCaller } from '../../audit/record.ts'
import type { Caller } from '../../auth/caller.ts'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { createAccessToken } from '../access-token/create.ts'
import * as accessTokens from './queries.ts'
import { expiryOf, organizationsOf, requireOwnScopes } from './rules.ts'
import type { CreateUserAccessTokenBody } from './schema.ts'

/** The new token may no more than the caller: it has no more scopes, organizations, addresses or time. */
export async function createUserToken(
  ctx: Context,
  caller: Caller,
  body: CreateUserAccessTokenBody,
): Promise<accessTokens.UserTokenRow & { token: string }> {
  requireOwnScopes(caller, body.scopes)
  const expiresAt = expiryOf(caller, body.expires_in_days ?? null, ctx.now())
  return inTransaction(ctx.db, async (trx) => {
    const reached = await accessTokens.listOrganizations(trx, caller)
    const { id, token } = await createAccessToken(trx, byCaller(caller), {
      email: caller.user.email,
      scopes: body.scopes,
      organizationSlugs: organizationsOf(caller, reached, body.organization_slugs),
      description: body.description,
      expiresAt,
      allowedIpAddresses: caller.token.allowed_ip_addresses,
    })
    return { ...(await accessTokens.getOfCaller(trx, caller, id)), token }
  })
}
