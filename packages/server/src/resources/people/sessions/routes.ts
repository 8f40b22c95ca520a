import { Type } from 'typebox'
import { noContent } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { presentUserSession } from './present.ts'
import * as sessions from './queries.ts'
import { UserSession } from './schema.ts'

const listSessionsRoute = route({
  method: 'GET',
  url: '/v2/user/sessions',
  summary: 'List your sessions, last used first',
  scope: 'read_user',
  permission: 'token',
  paging: 'pages',
  answers: { 200: Type.Array(UserSession) },
  async handler({ ctx, caller, url }) {
    const page = readPage(url)
    const rows = await sessions.listOfCaller(ctx.db, caller, page)
    return pageAnswer(page, rows, (row) => presentUserSession(caller, row))
  },
})

const endSessionRoute = route({
  method: 'DELETE',
  url: '/v2/user/sessions/:session',
  summary: 'End one of your sessions',
  scope: 'write_user',
  permission: 'token',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, caller, params }) {
    await sessions.deleteOfCaller(ctx.db, caller, params.session)
    return noContent()
  },
})

const endSessionsRoute = route({
  method: 'DELETE',
  url: '/v2/user/sessions',
  summary: 'End all of your sessions, also the one of the request',
  scope: 'write_user',
  permission: 'token',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, caller }) {
    await sessions.deleteAllOfCaller(ctx.db, caller)
    return noContent()
  },
})

export const sessionRoutes = [listSessionsRoute, endSessionRoute, endSessionsRoute]
