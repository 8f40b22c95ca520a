// The authorization server for programs, as OAuth 2.1 describes it: they register, send a person to the page of authorize.ts
// and exchange the code for an access token, which is listed and revoked like any other.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../context.ts'
import type { Endpoint } from '../../http/endpoint.ts'
import { authorizePath } from './authorize.ts'
import { clientId, deviceGrant, readMetadata } from './clients.ts'
import { exchangeGrant } from './exchange.ts'
import { authorizeDevice } from './device-authorization.ts'
import { programScopes } from './scopes.ts'
import { revokeToken } from './revoke.ts'
import { giveToken } from './token.ts'

const registerPath = '/-/oauth/register'
const tokenPath = '/-/oauth/token'
const revokePath = '/-/oauth/revoke'
const devicePath = '/-/oauth/device_authorization'

const responseTypes = ['code']
const authMethod = 'none'

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
      const { client, grantTypes } = readMetadata(request.body)
      void reply.code(201).header('Cache-Control', 'no-store')
      return {
        client_id: clientId(ctx.keys, client),
        client_name: client.name,
        redirect_uris: client.redirectUris,
        grant_types: grantTypes,
        response_types: client.redirectUris.length === 0 ? [] : responseTypes,
        token_endpoint_auth_method: authMethod,
      }
    },
  },
  // Programs that were made for Buildkite know these paths in advance.
  ...[tokenPath, '/oauth/token'].map((url) => formEndpoint(url, (request) => giveToken(ctx, request))),
  ...[devicePath, '/oauth/device_authorization'].map((url) =>
    formEndpoint(url, (request) => authorizeDevice(ctx, request)),
  ),
  ...[revokePath, '/oauth/revoke'].map((url) => formEndpoint(url, (request) => revokeToken(ctx, request))),
]

const formEndpoint = (url: string, answer: (request: FastifyRequest) => Promise<object>): Endpoint => ({
  methods: ['POST'],
  url,
  body: 'form',
  crossOrigin: true,
  bodyLimitBytes: 16_384,
  async handle(request, reply) {
    void reply.header('Cache-Control', 'no-store')
    return answer(request)
  },
})

const metadataOf = (url: string) => ({
  issuer: url,
  authorization_endpoint: `${url}${authorizePath}`,
  token_endpoint: `${url}${tokenPath}`,
  registration_endpoint: `${url}${registerPath}`,
  device_authorization_endpoint: `${url}${devicePath}`,
  scopes_supported: programScopes,
  response_types_supported: responseTypes,
  grant_types_supported: ['authorization_code', deviceGrant, 'refresh_token', exchangeGrant],
  token_endpoint_auth_methods_supported: [authMethod],
  revocation_endpoint: `${url}${revokePath}`,
  revocation_endpoint_auth_methods_supported: [authMethod],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${url}/docs`,
})
