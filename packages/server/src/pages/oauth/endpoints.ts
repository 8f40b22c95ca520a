// The authorization server for programs, as OAuth 2.1 describes it: they register, send a person to the page of authorize.ts
// and exchange the code for an access token, which is listed and revoked like any other.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import { userAgentOf } from '../../http/access.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { hashToken } from '../../lib/ids.ts'
import { createAccessToken } from '../../resources/people/access-token/create.ts'
import { authorizePath } from './authorize.ts'
import { clientId, readClient, readMetadata } from './clients.ts'
import { takeCode, type TakenCode } from './codes.ts'
import { oauthError } from './errors.ts'
import { programScopes } from './scopes.ts'

const registerPath = '/-/oauth/register'
const tokenPath = '/-/oauth/token'

const grants = {
  grant_types: ['authorization_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
}

export const oauthEndpoints = (ctx: Context): Endpoint[] => [
  {
    methods: ['GET'],
    url: '/.well-known/oauth-authorization-server',
    body: 'json',
    crossOrigin: true,
    handle: async () => metadataOf(ctx.config.url),
  },
  {
    methods: ['POST'],
    url: registerPath,
    body: 'json',
    crossOrigin: true,
    bodyLimitBytes: 16_384,
    async handle(request, reply) {
      const client = readMetadata(request.body)
      void reply.code(201).header('Cache-Control', 'no-store')
      return {
        client_id: clientId(ctx.keys, client),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        ...grants,
      }
    },
  },
  {
    methods: ['POST'],
    url: tokenPath,
    body: 'form',
    crossOrigin: true,
    bodyLimitBytes: 16_384,
    async handle(request, reply) {
      void reply.header('Cache-Control', 'no-store')
      return exchange(ctx, request)
    },
  },
]

const metadataOf = (url: string) => ({
  issuer: url,
  authorization_endpoint: `${url}${authorizePath}`,
  token_endpoint: `${url}${tokenPath}`,
  registration_endpoint: `${url}${registerPath}`,
  scopes_supported: programScopes,
  response_types_supported: grants.response_types,
  grant_types_supported: grants.grant_types,
  token_endpoint_auth_methods_supported: [grants.token_endpoint_auth_method],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${url}/docs`,
})

async function exchange(ctx: Context, request: FastifyRequest) {
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams()
  if (form.get('grant_type') !== 'authorization_code')
    throw oauthError('unsupported_grant_type', 'The only grant_type is authorization_code.')
  if (readClient(ctx.keys, form.get('client_id') ?? '') === null)
    throw oauthError('invalid_client', 'This installation has not registered the client.', 401)
  const taken = await takeCode(ctx.db, form.get('code') ?? '', ctx.now())
  if (taken === null || !isFor(taken, form))
    throw oauthError('invalid_grant', 'The code is used, older than a minute, or not for this client.')
  const { user, token_request: wanted } = taken
  const by = { ip: request.ip, userAgent: userAgentOf(request) }
  const created = await createAccessToken(ctx.db, { kind: 'sign_in', user, request: by }, wanted)
  const untilMs = Date.parse(created.expires_at ?? '') - ctx.now().getTime()
  return {
    access_token: created.token,
    token_type: 'Bearer',
    expires_in: Math.floor(untilMs / 1000),
    scope: created.scopes.join(' '),
  }
}

function isFor({ client_hash, redirect_uri, challenge }: TakenCode, form: URLSearchParams): boolean {
  const verifier = form.get('code_verifier') ?? ''
  return (
    client_hash.equals(hashToken(form.get('client_id') ?? '')) &&
    (form.get('redirect_uri') ?? redirect_uri) === redirect_uri &&
    createHash('sha256').update(verifier).digest('base64url') === challenge
  )
}
