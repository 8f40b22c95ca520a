import { Type } from 'typebox'
import { byCaller } from '../../../audit/record.ts'
import { serviceScopes } from '../../../auth/scopes.ts'
import { created, noContent } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { revokeAccessToken } from '../access-token/revoke.ts'
import * as accounts from '../service_accounts/queries.ts'
import { createToken, requireOwner } from './create.ts'
import * as tokens from './queries.ts'
import { CreatedServiceAccountToken, createServiceAccountToken, ServiceAccountToken } from './schema.ts'

const notOwner = { 403: 'The caller is neither an administrator nor an owner, or lacks a scope.' }

const listServiceAccountTokensRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/service_accounts/:service_account/tokens',
  summary: 'List the valid access tokens of a service account, newest first',
  scope: 'read_organizations',
  permission: 'member',
  paging: 'pages',
  answers: { 200: Type.Array(ServiceAccountToken) },
  errors: notOwner,
  async handler({ ctx, org, caller, params, url }) {
    const account = await accounts.getInOrg(ctx.db, org.id, params.service_account)
    requireOwner({ org, caller }, account)
    const page = readPage(url)
    const rows = await tokens.listOfAccount(ctx.db, org.id, account.id, page)
    return pageAnswer(page, rows, (row) => row)
  },
})

const createServiceAccountTokenRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/service_accounts/:service_account/tokens',
  summary: 'Create an access token of a service account, which may no more than the token that creates it',
  scope: 'write_organizations',
  permission: 'member',
  body: createServiceAccountToken(serviceScopes),
  answers: { 201: CreatedServiceAccountToken },
  errors: {
    403: 'The caller is neither an administrator nor an owner, lacks a scope, or owns an account that is an administrator.',
    422: 'The token would outlive the one that creates it.',
  },
  async handler({ ctx, org, caller, params, body }) {
    return created(await createToken({ ctx, org, caller }, params.service_account, body))
  },
})

const revokeServiceAccountTokenRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/service_accounts/:service_account/tokens/:access_token',
  summary: 'Revoke an access token of a service account',
  scope: 'write_organizations',
  permission: 'member',
  changesAccess: true,
  answers: { 204: null },
  errors: notOwner,
  async handler({ ctx, org, caller, params }) {
    const account = await accounts.getInOrg(ctx.db, org.id, params.service_account)
    requireOwner({ org, caller }, account)
    const { id } = await tokens.getOfAccount(ctx.db, org.id, account.id, params.access_token)
    await revokeAccessToken(ctx.db, byCaller(caller), id)
    return noContent()
  },
})

export const serviceAccountTokenRoutes = [
  listServiceAccountTokensRoute,
  createServiceAccountTokenRoute,
  revokeServiceAccountTokenRoute,
]
