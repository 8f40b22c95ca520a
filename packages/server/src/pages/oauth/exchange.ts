// Token exchange (RFC 8693): a program that has a token of an authority gets a short one of a service account. The program
// names the trust, so an authority that several organizations know never mixes them.
import type { FastifyRequest } from 'fastify'
import type * as jose from 'jose'
import type { Context } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { userAgentOf } from '../../http/access.ts'
import { isUuid } from '../../lib/ids.ts'
import type { PublicKeys } from '../../auth/issuer-keys.ts'
import { OutboundError } from '../../lib/outbound.ts'
import { isStorable } from '../../lib/unstorable.ts'
import { createAccessToken } from '../../resources/people/access-token/create.ts'
import { urlOfIssuer } from '../../resources/people/token_issuers/present.ts'
import { findTrust, lockUnchanged, type TrustRow } from '../../resources/people/token_issuers/queries.ts'
import { unmetClaim } from '../../resources/people/token_issuers/rules.ts'
import { oauthError } from './errors.ts'

export const exchangeGrant = 'urn:ietf:params:oauth:grant-type:token-exchange'

const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'
const subjectTypes = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token']

/** How far the clock of an issuer may be ahead of ours. */
const leewaySeconds = 30
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

export async function exchangeToken(ctx: Context, request: FastifyRequest, form: URLSearchParams) {
  requireKnownTypes(form)
  const trust = await trustOf(ctx, form)
  const scopes = scopesOf(trust, form)
  const now = ctx.now()
  const claims = await verify(ctx, trust, form.get('subject_token') ?? '', now)
  const unmet = unmetClaim(trust.claims, claims)
  if (unmet !== undefined) throw refusal(`its claim ${unmet} is none that the organization trusts.`)
  const seconds = Math.min(trust.most_minutes * 60, (claims.exp ?? 0) - Math.ceil(now.getTime() / 1000))
  if (seconds < 1) throw refusal('it has expired.')
  const { sub = '' } = claims
  const subject = isStorable(sub) ? sub.slice(0, 200) : ''
  const { token } = await inTransaction(ctx.db, async (trx) => {
    const current = await lockUnchanged(trx, trust)
    if (current === undefined) throw refusal('the trust has just changed.')
    if (!current.has_owner) throw refusal('all owners of the service account have left the organization.')
    const user = { id: current.service_account_id, name: current.service_account_name }
    const visitor = { ip: request.ip, userAgent: userAgentOf(request) }
    return createAccessToken(
      trx,
      { kind: 'sign_in', user, request: visitor },
      {
        email: current.service_account_email,
        scopes,
        organizationSlugs: [current.organization_slug],
        description: `For ${subject || 'a token'} of ${current.issuer}`.slice(0, 500),
        expiresAt: new Date(now.getTime() + seconds * 1000).toISOString(),
        allowedIpAddresses: null,
        tokenIssuerId: current.id,
      },
    )
  })
  return {
    access_token: token,
    issued_token_type: accessTokenType,
    token_type: 'Bearer',
    expires_in: seconds,
    scope: scopes.join(' '),
  }
}

function requireKnownTypes(form: URLSearchParams): void {
  if (!subjectTypes.includes(form.get('subject_token_type') ?? ''))
    throw oauthError('invalid_request', `The subject_token_type is ${subjectTypes.join(' or ')}.`)
  if ((form.get('requested_token_type') ?? accessTokenType) !== accessTokenType)
    throw oauthError('invalid_request', `The requested_token_type is ${accessTokenType}.`)
  if (form.has('actor_token'))
    throw oauthError('invalid_request', 'There is no actor_token: a service account acts for itself.')
}

async function trustOf(ctx: Context, form: URLSearchParams): Promise<TrustRow> {
  const named = [...form.getAll('audience'), ...form.getAll('resource')]
  const [name = ''] = named
  const id = name.slice(name.lastIndexOf('/') + 1)
  const trust = named.length === 1 && isUuid(id) ? await findTrust(ctx.db, id) : undefined
  const isNamed =
    trust !== undefined &&
    [trust.id, urlOfIssuer(ctx.config.url, trust.organization_slug, trust.id)].includes(name)
  if (!isNamed)
    throw oauthError('invalid_target', 'One audience or resource names the id or url of a token issuer.')
  return trust
}

function scopesOf(trust: TrustRow, form: URLSearchParams): string[] {
  const asked = (form.get('scope') ?? '').split(' ').filter(Boolean)
  const foreign = asked.find((scope) => !trust.scopes.includes(scope))
  if (foreign !== undefined)
    throw oauthError('invalid_scope', `The scopes are some of ${trust.scopes.join(' ')}.`)
  return asked.length === 0 ? trust.scopes : [...new Set(asked)]
}

type Jose = typeof jose

async function verify(ctx: Context, trust: TrustRow, token: string, now: Date): Promise<jose.JWTPayload> {
  const library: Jose = await import('jose')
  requireIssuer(library, trust, token)
  const withKeys = (keys: PublicKeys) => verifyWith(library, keys, trust, token, now)
  if (trust.jwks !== null) return (await withKeys(trust.jwks)) ?? unknownKey()
  const keys = await asking(() => ctx.issuerKeys.get(trust.issuer, now))
  const claims = await withKeys(keys)
  if (claims !== null) return claims
  const newer = await asking(() => ctx.issuerKeys.getNewer(trust.issuer, now))
  return (newer === keys ? null : await withKeys(newer)) ?? unknownKey()
}

/** Before the issuer is asked anything. The signature is checked later. */
function requireIssuer(library: Jose, trust: TrustRow, token: string): void {
  try {
    const { alg = '' } = library.decodeProtectedHeader(token)
    const { iss } = library.decodeJwt(token)
    if (!algorithms.includes(alg)) throw refusal(`its algorithm is none of ${algorithms.join(', ')}.`)
    if (iss !== trust.issuer) throw refusal('its issuer is another one.')
  } catch (error) {
    throw error instanceof library.errors.JOSEError || error instanceof TypeError
      ? refusal('it is no signed JWT.')
      : error
  }
}

/** null: none of these keys has signed it. */
async function verifyWith(
  library: Jose,
  { keys }: PublicKeys,
  trust: TrustRow,
  token: string,
  now: Date,
): Promise<jose.JWTPayload | null> {
  try {
    const { payload } = await library.jwtVerify(token, library.createLocalJWKSet({ keys: keysOf(keys) }), {
      algorithms,
      issuer: trust.issuer,
      audience: trust.audience,
      requiredClaims: ['exp', 'iat'],
      clockTolerance: leewaySeconds,
      currentDate: now,
    })
    if ((payload.iat ?? Infinity) > now.getTime() / 1000 + leewaySeconds)
      throw refusal('it says that it was made in the future.')
    return payload
  } catch (error) {
    if (error instanceof library.errors.JWKSNoMatchingKey) return null
    if (error instanceof library.errors.JWKSMultipleMatchingKeys)
      throw refusal('it does not name its key, and the issuer has several.')
    throw error instanceof library.errors.JOSEError ? refusal(`${error.message}.`) : error
  }
}

/** Those of our own are texts, which the type of the library does not say. */
const keysOf = (keys: PublicKeys['keys']): jose.JWK[] => keys.map((key) => ({ kty: '', ...key }))

function unknownKey(): never {
  throw refusal('the issuer has no key that it was signed with.')
}

async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    throw oauthError(
      'temporarily_unavailable',
      `The issuer cannot be asked for its keys: ${error.message}`,
      503,
    )
  }
}

const refusal = (why: string) => oauthError('invalid_request', `The subject_token is refused: ${why}`)
