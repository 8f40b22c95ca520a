import { Type } from 'typebox'
import { byCaller } from '../../../audit/record.ts'
import { scopes } from '../../../auth/scopes.ts'
import { created, noContent } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { revokeAccessToken } from '../access-token/revoke.ts'
import { createUserToken } from './create.ts'
import { presentUserToken } from './present.ts'
import * as accessTokens from './queries.ts'
import { CreatedUserAccessToken, createUserAccessToken, UserAccessToken } from './schema.ts'

const listUserTokensRoute = route({
  method: 'GET',
  url: '/v2/user/access-tokens',
  summary: 'List your valid access tokens, newest first',
  scope: 'read_user',
  permission: 'token',
  paging: 'pages',
  answers: { 200: Type.Array(UserAccessToken) },
  async handler({ ctx, caller, url }) {
    const page = readPage(url)
    const rows = await accessTokens.listOfCaller(ctx.db, caller, page)
    return pageAnswer(page, rows, (row) => presentUserToken(caller, row))
  },
})

const createUserTokenRoute = route({
  method: 'POST',
  url: '/v2/user/access-tokens',
  summary: 'Create an access token; with a token, one that may no more than it',
  scope: 'write_user',
  permission: 'token',
  body: createUserAccessToken(scopes),
  answers: { 201: CreatedUserAccessToken },
  errors: {
    403: 'A scope is missing in the token of the request, or an organization lets only administrators create tokens.',
    422: 'An organization or a scope is unknown, or the token would outlive the one that creates it.',
  },
  async handler({ ctx, caller, body }) {
    const { token, ...row } = await createUserToken(ctx, caller, body)
    return created({ ...presentUserToken(caller, row), token })
  },
})

const revokeUserTokenRoute = route({
  method: 'DELETE',
  url: '/v2/user/access-tokens/:access_token',
  summary: 'Revoke one of your access tokens, and end the sessions that it opened',
  scope: 'write_user',
  permission: 'token',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, caller, params }) {
    const { id } = await accessTokens.getOfCaller(ctx.db, caller, params.access_token)
    await revokeAccessToken(ctx.db, byCaller(caller), id)
    return noContent()
  },
})

export const userAccessTokenRoutes = [listUserTokensRoute, createUserTokenRoute, revokeUserTokenRoute]
