import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { createConnection } from './create.ts'
import { deleteConnection } from './delete.ts'
import { presentConnection } from './present.ts'
import * as connections from './queries.ts'
import { CreateRepositoryConnection, RepositoryConnection, UpdateRepositoryConnection } from './schema.ts'
import { updateConnection } from './update.ts'

const listConnectionsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/repository_connections',
  summary: 'List the source hosts that repositories are on, oldest first, with their secrets masked',
  scope: 'read_organization_repository_connections',
  permission: 'admin',
  paging: 'pages',
  answers: { 200: Type.Array(RepositoryConnection) },
  async handler({ ctx, org, url }) {
    const page = readPage(url)
    const rows = await connections.listInOrg(ctx.db, org.id, page)
    return pageAnswer(page, rows, (row) => presentConnection(ctx.config.url, row))
  },
})

const getConnectionRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/repository_connections/:connection',
  summary: 'Get a source host',
  scope: 'read_organization_repository_connections',
  permission: 'admin',
  answers: { 200: RepositoryConnection },
  async handler({ ctx, org, params }) {
    const connection = await connections.getInOrg(ctx.db, org.id, params.connection)
    return ok(presentConnection(ctx.config.url, connection))
  },
})

const createConnectionRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/repository_connections',
  summary:
    'Connect a source host: the secret of its webhooks, and a token or a GitHub App to send commit statuses with',
  scope: 'write_organization_repository_connections',
  permission: 'admin',
  body: CreateRepositoryConnection,
  answers: { 201: RepositoryConnection },
  errors: { 422: 'The body is not valid, or the host is connected already.' },
  async handler({ ctx, org, caller, body }) {
    const connection = await createConnection({ ctx, org, caller }, body)
    return created(presentConnection(ctx.config.url, connection))
  },
})

const updateConnectionRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/repository_connections/:connection',
  summary: 'Update a source host; secrets sent back masked stay as they are',
  scope: 'write_organization_repository_connections',
  permission: 'admin',
  body: UpdateRepositoryConnection,
  answers: { 200: RepositoryConnection },
  errors: { 422: 'The body is not valid, or the host is connected already.' },
  async handler({ ctx, org, caller, params, body }) {
    const connection = await updateConnection({ ctx, org, caller }, params.connection, body)
    return ok(presentConnection(ctx.config.url, connection))
  },
})

const deleteConnectionRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/repository_connections/:connection',
  summary: 'Delete a source host and its secrets',
  scope: 'write_organization_repository_connections',
  permission: 'admin',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteConnection({ ctx, org, caller }, params.connection)
    return noContent()
  },
})

export const repositoryConnectionRoutes = [
  listConnectionsRoute,
  getConnectionRoute,
  createConnectionRoute,
  updateConnectionRoute,
  deleteConnectionRoute,
]
