// The endpoint where programs get their tokens.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { userAgentOf } from '../../http/access.ts'
import { inTransaction } from '../../db/transaction.ts'
import { ApiError } from '../../lib/errors.ts'
import { hashToken } from '../../lib/ids.ts'
import { createAccessToken, type AccessTokenRequest } from '../../resources/people/access-token/create.ts'
import { deviceGrant, requireClient, type Client } from './clients.ts'
import { takeCode, type TakenCode } from './codes.ts'
import { pollDevice } from './devices.ts'
import { oauthError } from './errors.ts'
import { exchangeGrant, exchangeToken } from './exchange.ts'
import { formOf } from './form.ts'
import { accessSeconds, insertRefreshToken, refresh } from './refresh-tokens.ts'

interface Grant {
  client: { id: string; client: Client }
  user: { id: string; name: string }
  token_request: AccessTokenRequest
}

export async function giveToken(ctx: Context, request: FastifyRequest) {
  const form = formOf(request)
  switch (form.get('grant_type')) {
    case 'authorization_code':
      return createToken(ctx, request, await byCode(ctx, form))
    case deviceGrant:
      return createToken(ctx, request, await byDevice(ctx, form))
    case 'refresh_token':
      return refreshToken(ctx, request, form)
    case exchangeGrant:
      return exchangeToken(ctx, request, form)
    case null:
    default:
      throw oauthError(
        'unsupported_grant_type',
        `The grant_type is authorization_code, refresh_token, ${deviceGrant} or ${exchangeGrant}.`,
      )
  }
}

async function byCode(ctx: Context, form: URLSearchParams): Promise<Grant> {
  const client = requireClient(ctx.keys, form)
  const taken = await takeCode(ctx.db, form.get('code') ?? '', ctx.now())
  if (taken === null || !isFor(taken, form))
    throw oauthError('invalid_grant', 'The code is used, older than a minute, or not for this client.')
  return { ...taken, client }
}

function isFor({ client_hash, redirect_uri, challenge }: TakenCode, form: URLSearchParams): boolean {
  const verifier = form.get('code_verifier') ?? ''
  return (
    client_hash.equals(hashToken(form.get('client_id') ?? '')) &&
    (form.get('redirect_uri') ?? redirect_uri) === redirect_uri &&
    createHash('sha256').update(verifier).digest('base64url') === challenge
  )
}

async function byDevice(ctx: Context, form: URLSearchParams): Promise<Grant> {
  const client = requireClient(ctx.keys, form)
  const asked = { deviceCode: form.get('device_code') ?? '', clientId: client.id }
  const polled = await pollDevice(ctx.db, asked, ctx.now())
  switch (polled.is) {
    case 'allowed':
      return { ...polled.grant, client }
    case 'pending':
      throw oauthError('authorization_pending', 'Nobody has entered the code and decided yet.')
    case 'too_fast':
      throw oauthError('slow_down', 'Wait five seconds longer between two requests.')
    case 'denied':
      throw oauthError('access_denied', 'The person denied it.')
    case 'expired':
      throw oauthError('expired_token', 'The code is older than ten minutes. Begin again.')
    case 'unknown':
      throw oauthError('invalid_grant', 'The code is used, long expired, or not for this client.')
  }
}

async function createToken(ctx: Context, request: FastifyRequest, grant: Grant) {
  const { user, client, token_request: wanted } = grant
  const now = ctx.now()
  const until = wanted.expiresAt
  const renewal =
    client.client.renews === true && until !== null
      ? { expiresAt: earlier(now.getTime() + accessSeconds * 1000, until), renewableUntil: until }
      : {}
  const origin = { kind: 'sign_in', user, request: visitorOf(request) } as const
  const asked = { ...wanted, ...renewal, clientHash: hashToken(client.id) }
  try {
    return await inTransaction(ctx.db, async (trx) => {
      const { id, token, expires_at: expiresAt, scopes } = await createAccessToken(trx, origin, asked)
      const next =
        'renewableUntil' in renewal
          ? await insertRefreshToken(trx, { accessTokenId: id, until: renewal.renewableUntil, now })
          : null
      return answer(now, { accessToken: token, refreshToken: next, expiresAt, scopes })
    })
  } catch (error) {
    // Meanwhile the person has left the organization that the token was to be for.
    const isRefused = error instanceof ApiError && (error.status === 404 || error.status === 422)
    throw isRefused ? oauthError('invalid_grant', error.message) : error
  }
}

async function refreshToken(ctx: Context, request: FastifyRequest, form: URLSearchParams) {
  const { id } = requireClient(ctx.keys, form)
  const asked = { refreshToken: form.get('refresh_token') ?? '', clientId: id, request: visitorOf(request) }
  const now = ctx.now()
  const tokens = await refresh(ctx, asked, now)
  if (tokens === null)
    throw oauthError('invalid_grant', 'The token is used, expired, revoked, or not for this client.')
  return answer(now, tokens)
}

interface Given {
  accessToken: string
  refreshToken: string | null
  expiresAt: string | null
  scopes: readonly string[]
}

const answer = (now: Date, { accessToken, refreshToken: next, expiresAt, scopes }: Given) => ({
  access_token: accessToken,
  token_type: 'Bearer',
  expires_in: Math.floor((Date.parse(expiresAt ?? '') - now.getTime()) / 1000),
  scope: scopes.join(' '),
  ...(next === null ? {} : { refresh_token: next }),
})

const visitorOf = (request: FastifyRequest) => ({ ip: request.ip, userAgent: userAgentOf(request) })

const earlier = (ms: number, limit: string) => new Date(Math.min(ms, Date.parse(limit))).toISOString()
