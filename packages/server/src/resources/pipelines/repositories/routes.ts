import { Type } from 'typebox'
import { pageLinks, readPage } from '../../../http/paging.ts'
import { linkHeader } from '../../../http/links.ts'
import { route } from '../../../http/route.ts'
import * as connections from '../repository_connections/queries.ts'
import { listRepositories } from './list.ts'
import { Repository } from './schema.ts'

/** It names private repositories of the organization's account at the host, so only administrators may ask. */
const listRepositoriesRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/repository_connections/:connection/repositories',
  summary: 'List the repositories that a connection sees, as its host answers now',
  scope: 'read_organization_repository_connections',
  permission: 'admin',
  paging: 'pages',
  query: {
    repository: Type.Optional(
      Type.String({ maxLength: 500, description: 'Only the one with this full name, in any case.' }),
    ),
    search: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Only those with this in their name. GitHub cannot do it.',
      }),
    ),
    workspace: Type.Optional(
      Type.String({ maxLength: 200, description: 'At Bitbucket the workspace, which is required there.' }),
    ),
  },
  answers: { 200: Type.Array(Repository) },
  errors: {
    422: 'The connection has no token, its host has no such list, or the host refuses.',
    503: 'The host did not answer, or is asked too often.',
  },
  async handler({ ctx, org, params, query, url }) {
    const connection = await connections.getInOrg(ctx.db, org.id, params.connection)
    const page = readPage(url)
    const { repositories, hasNext } = await listRepositories(ctx, connection, {
      page: page.page,
      perPage: page.perPage,
      repository: query.repository ?? null,
      search: query.search ?? null,
      workspace: query.workspace ?? null,
    })
    return { status: 200, body: repositories, headers: linkHeader(pageLinks(page, hasNext)) }
  },
})

export const repositoryRoutes = [listRepositoriesRoute]
