import { byCaller } from '../../audit/record.ts'
import { noContent, ok } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { presentAccessToken } from './present.ts'
import { revokeAccessToken } from './revoke.ts'
import { AccessToken } from './schema.ts'

const getAccessTokenRoute = route({
  method: 'GET',
  url: '/v2/access-token',
  summary: 'Get the token the request was made with',
  scope: 'none',
  permission: 'token',
  answers: { 200: AccessToken },
  async handler({ caller }) {
    return ok(presentAccessToken(caller))
  },
})

const revokeAccessTokenRoute = route({
  method: 'DELETE',
  url: '/v2/access-token',
  summary: 'Revoke the token the request was made with',
  scope: 'none',
  permission: 'token',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, caller }) {
    await revokeAccessToken(ctx.db, byCaller(caller), caller.token.id)
    return noContent()
  },
})

export const accessTokenRoutes = [getAccessTokenRoute, revokeAccessTokenRoute]
