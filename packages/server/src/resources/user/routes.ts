import { Type } from 'typebox'
import { ok, svg } from '../../http/answer.ts'
import { uuid } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { drawAvatar } from './avatar.ts'
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

// Nothing is looked up: whether a user of that id exists is nobody's to find out here.
const getAvatarRoute = route({
  method: 'GET',
  url: '/avatars/:user',
  summary: 'Get the picture of a user, drawn from the id alone',
  scope: 'none',
  permission: 'anonymous',
  params: { user: uuid('user') },
  answers: { 200: Type.String({ contentMediaType: 'image/svg+xml' }) },
  async handler({ params }) {
    return svg(drawAvatar(params.user.toLowerCase()))
  },
})

export const userRoutes = [getUserRoute, getAvatarRoute]
