import { byCaller, changedAttributes, recordAudit } from '../../../audit/record.ts'
import type { RequestContext } from '../../../context.ts'
import { inTransaction } from '../../../db/transaction.ts'
import { ApiError, forbidden, validationFailed } from '../../../lib/errors.ts'
import { newId } from '../../../lib/ids.ts'
import { requireOwnScopes } from '../access-tokens/rules.ts'
import { requireIssuer } from '../sso/rules.ts'
import * as organizations from '../organizations/queries.ts'
import * as accounts from '../service_accounts/queries.ts'
import type { Trx } from '../../../db/pool.ts'
import { urlOfIssuer } from './present.ts'
import * as issuers from './queries.ts'
import { readJwks, requireConditions } from './rules.ts'
import type { CreateTokenIssuerBody, UpdateTokenIssuerBody } from './schema.ts'

export async function createTokenIssuer(
  request: RequestContext,
  body: CreateTokenIssuerBody,
): Promise<issuers.TokenIssuerRow> {
  const { ctx, org, caller } = request
  const id = newId()
  const fields = {
    ...body,
    audience: body.audience ?? urlOfIssuer(ctx.config.url, org.slug, id),
    jwks: readJwks(body.jwks ?? null),
    most_minutes: body.most_minutes ?? 60,
  }
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    await requireAllowed(trx, request, fields)
    await issuers.upsert(trx, org.id, id, fields)
    const made = await issuers.getInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TOKEN_ISSUER_CREATED',
      subject: { type: 'TokenIssuer', uuid: id, name: made.issuer },
      data: { ...fields },
    })
    return made
  })
}

/** The tokens that were given until now end: they may more than it now says. */
export async function updateTokenIssuer(
  request: RequestContext,
  id: string,
  { jwks, ...changes }: UpdateTokenIssuerBody,
): Promise<issuers.TokenIssuerRow> {
  const { ctx, org, caller } = request
  return inTransaction(ctx.db, async (trx) => {
    await organizations.lock(trx, org.id)
    const before = await issuers.lockInOrg(trx, org.id, id)
    const fields = { ...before, ...changes, ...(jwks === undefined ? {} : { jwks: readJwks(jwks) }) }
    await requireAllowed(trx, request, fields)
    await issuers.upsert(trx, org.id, id, fields)
    await issuers.deleteTokens(trx, org.id, id)
    const after = await issuers.getInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TOKEN_ISSUER_UPDATED',
      subject: { type: 'TokenIssuer', uuid: id, name: after.issuer },
      data: changedAttributes(before, after, [
        'issuer',
        'audience',
        'jwks',
        'claims',
        'service_account_id',
        'scopes',
        'most_minutes',
      ]),
    })
    return after
  })
}

export async function deleteTokenIssuer({ ctx, org, caller }: RequestContext, id: string): Promise<void> {
  await inTransaction(ctx.db, async (trx) => {
    const { issuer } = await issuers.lockInOrg(trx, org.id, id)
    await issuers.deleteInOrg(trx, org.id, id)
    await recordAudit(trx, byCaller(caller), {
      organizationId: org.id,
      type: 'TOKEN_ISSUER_DELETED',
      subject: { type: 'TokenIssuer', uuid: id, name: issuer },
    })
  })
}

/** Throws. Who decides about an issuer gets its tokens, so they have no more scopes than the caller's. */
async function requireAllowed(
  trx: Trx,
  { ctx, org, caller }: RequestContext,
  fields: issuers.TokenIssuerFields,
): Promise<void> {
  requireOwnScopes(caller, fields.scopes)
  requireIssuer(ctx.config.url, fields.issuer)
  requireConditions(fields.claims)
  try {
    await accounts.lockInOrg(trx, org.id, fields.service_account_id)
  } catch (error) {
    const isUnknown = error instanceof ApiError && error.status === 404
    throw isUnknown ? validationFailed('service_account_id is no service account of the organization') : error
  }
  if (fields.service_account_id === caller.user.id)
    throw forbidden('A service account cannot decide who gets its own tokens')
}
