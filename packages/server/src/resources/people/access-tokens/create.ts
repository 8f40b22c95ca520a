import { byCaller } from '../../../audit/record.ts'
import type { Caller } from '../../../auth/caller.ts'
import type { Context } from '../../../context.ts'
import type { Db } from '../../../db/pool.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { createAccessToken, type AccessTokenRequest } from '../access-token/create.ts'
import * as accessTokens from './queries.ts'
import { expiryOf, organizationsOf, requireOwnScopes } from './rules.ts'
import type { CreateUserAccessTokenBody } from './schema.ts'

export async function createUserToken(
  ctx: Context,
  caller: Caller,
  body: CreateUserAccessTokenBody,
): Promise<accessTokens.UserTokenRow & { token: string }> {
  const expiresAt = expiryOf(caller, body.expires_in_days ?? null, ctx.now())
  return inTransaction(ctx.db, async (trx) => {
    const request = await tokenRequest(trx, caller, body, expiresAt)
    const { id, token } = await createAccessToken(trx, byCaller(caller), request)
    return { ...(await accessTokens.getOfCaller(trx, caller, id)), token }
  })
}

/** The new token may no more than the caller: it has no more scopes, organizations or addresses. Throws. */
export async function tokenRequest(
  db: Db,
  caller: Caller,
  body: Omit<CreateUserAccessTokenBody, 'expires_in_days'>,
  expiresAt: string | null,
): Promise<AccessTokenRequest> {
  requireOwnScopes(caller, body.scopes)
  const reached = await accessTokens.listOrganizations(db, caller)
  return {
    email: caller.user.email,
    scopes: body.scopes,
    organizationSlugs: organizationsOf(caller, reached, body.organization_slugs),
    description: body.description,
    expiresAt,
    allowedIpAddresses: caller.token.allowed_ip_addresses,
    isMachine: caller.token.is_machine || body.is_machine === true,
  }
}
