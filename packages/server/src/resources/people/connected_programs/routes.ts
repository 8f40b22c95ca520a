import { Type } from 'typebox'
import { noContent } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { presentProgram } from './present.ts'
import * as programs from './queries.ts'
import { revokeProgram } from './revoke.ts'
import { ConnectedProgram } from './schema.ts'

const listConnectedProgramsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/connected_programs',
  summary: 'List the programs that members let act for them in the organization, newest first',
  scope: 'read_organizations',
  permission: 'admin',
  paging: 'pages',
  answers: { 200: Type.Array(ConnectedProgram) },
  async handler({ ctx, org, url }) {
    const page = readPage(url)
    const rows = await programs.listInOrg(ctx.db, org.id, page)
    return pageAnswer(page, rows, presentProgram)
  },
})

const revokeConnectedProgramRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/connected_programs/:access_token',
  summary: 'Refuse a program of a member in the organization; other organizations that it reaches stay',
  scope: 'write_organizations',
  permission: 'admin',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await revokeProgram({ ctx, org, caller }, params.access_token)
    return noContent()
  },
})

export const connectedProgramRoutes = [listConnectedProgramsRoute, revokeConnectedProgramRoute]
