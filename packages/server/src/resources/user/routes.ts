import { Type } from 'typebox'
import { ok, svg } from '../../http/answer.ts'
import { uuid } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { renderAvatar } from './avatar.ts'
import { presentUser } from './present.ts'
import { User } from './schema.ts'

const getUserRoute = route({
  method: 'GET',
  url: '/v2/user',
  summary: 'Get the user the token belongs to',
  scope: 'read_user',
  permission: 'token',
  answers: { 200: User },
  async handler({ ctx, caller }) {
    return ok(presentUser(ctx.config.url, caller.user))
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

export const userRoutes = [getUserRoute, getAvatarRoute]
