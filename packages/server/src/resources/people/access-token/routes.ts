import { byCaller } from '../../../audit/record.ts'
import { noContent, ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import type { Caller } from '../../../auth/caller.ts'
import { notFound } from '../../../lib/errors.ts'
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
  errors: { 404: 'The request was made with a session that no token opened.' },
  async handler({ caller }) {
    return ok(presentAccessToken(requireToken(caller), caller))
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
  errors: { 404: 'The request was made with a session that no token opened.' },
  async handler({ ctx, caller }) {
    await revokeAccessToken(ctx.db, byCaller(caller), requireToken(caller))
    return noContent()
  },
})

function requireToken({ token }: Caller): string {
  if (token.id === null) throw notFound('This request was made with a session, not with an access token')
  return token.id
}

export const accessTokenRoutes = [getAccessTokenRoute, revokeAccessTokenRoute]
