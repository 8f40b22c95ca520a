import { Type } from 'typebox'
import { noContent, ok, svg } from '../../../http/answer.ts'
import { uuid } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { IncludeViewer } from '../../schema.ts'
import { renderAvatar } from './avatar.ts'
import { forbidden, validationFailed } from '../../../lib/errors.ts'
import { changePassword } from './change-password.ts'
import { presentUser } from './present.ts'
import * as users from './queries.ts'
import { maySeeInstallation } from './operators.ts'

import { ChangePassword, OwnUser, UpdateUser, User } from './schema.ts'

const getUserRoute = route({
  method: 'GET',
  url: '/v2/user',
  summary: 'Get the user the token belongs to',
  scope: 'read_user',
  permission: 'token',
  query: IncludeViewer,
  answers: { 200: OwnUser },
  async handler({ ctx, caller, query }) {
    const viewer = query.include_viewer === true && {
      viewer: { may: { see_installation: await maySeeInstallation(ctx.db, caller) } },
    }
    return ok({ ...presentUser(ctx.config.url, caller.user), ...viewer })
  },
})

const updateUserRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/user',
  summary: 'Change your name',
  scope: 'write_user',
  permission: 'token',
  body: UpdateUser,
  changesAccess: true,
  answers: { 200: User },
  errors: {
    403: 'The token or session does not reach every organization of the user, who has one name in all of them.',
    422: 'The name is missing, blank or too long.',
  },
  async handler({ ctx, caller, body }) {
    const name = body.name.trim()
    if (name === '') throw validationFailed('the name must not be blank')
    if (await users.isMemberElsewhere(ctx.db, caller.user.id, caller.token.organization_ids))
      throw forbidden(
        'Your name is the same in all your organizations, and you have signed in to some of them',
      )
    await users.updateName(ctx.db, caller.user.id, name)
    return ok(presentUser(ctx.config.url, { ...caller.user, name }))
  },
})

const changePasswordRoute = route({
  method: 'PUT',
  url: '/v2/user/password',
  summary: 'Change your password and end your other sessions; only with a session',
  scope: 'write_user',
  permission: 'token',
  body: ChangePassword,
  changesAccess: true,
  answers: { 204: null },
  errors: {
    403: 'The request was made with an access token, or with a session that one opened.',
    422: 'The current password is wrong, or the new one too short.',
  },
  async handler({ ctx, caller, body }) {
    await changePassword(ctx, caller, body)
    return noContent()
  },
})

// Any UUID gets an image, so the response does not reveal whether the user exists.
const getAvatarRoute = route({
  method: 'GET',
  url: '/avatars/:user',
  summary: 'Get the avatar of a user, rendered from the id',
  scope: 'none',
  permission: 'anonymous',
  params: { user: uuid('user') },
  answers: { 200: Type.String({ contentMediaType: 'image/svg+xml' }) },
  async handler({ params }) {
    return svg(renderAvatar(params.user.toLowerCase()))
  },
})

export const userRoutes = [getUserRoute, updateUserRoute, changePasswordRoute, getAvatarRoute]
