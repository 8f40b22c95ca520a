import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { createServiceAccount } from './create.ts'
import { deleteServiceAccount } from './delete.ts'
import { presentServiceAccount } from './present.ts'
import * as accounts from './queries.ts'
import { CreateServiceAccount, ServiceAccount, UpdateServiceAccount } from './schema.ts'
import { updateServiceAccount } from './update.ts'

const listServiceAccountsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/service_accounts',
  summary: 'List the service accounts of an organization, oldest first',
  scope: 'read_organizations',
  permission: 'view_teams',
  paging: 'pages',
  answers: { 200: Type.Array(ServiceAccount) },
  async handler({ ctx, org, url }) {
    const page = readPage(url)
    const rows = await accounts.listInOrg(ctx.db, org.id, page)
    return pageAnswer(page, rows, presentServiceAccount)
  },
})

const getServiceAccountRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/service_accounts/:service_account',
  summary: 'Get a service account',
  scope: 'read_organizations',
  permission: 'view_teams',
  answers: { 200: ServiceAccount },
  async handler({ ctx, org, params }) {
    return ok(presentServiceAccount(await accounts.getInOrg(ctx.db, org.id, params.service_account)))
  },
})

const createServiceAccountRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/service_accounts',
  summary: 'Create a service account: a member that is a program and cannot sign in on pages',
  scope: 'write_organizations',
  permission: 'admin',
  body: CreateServiceAccount,
  answers: { 201: ServiceAccount },
  errors: { 422: 'An owner is no person of the organization.' },
  async handler({ ctx, org, caller, body }) {
    return created(presentServiceAccount(await createServiceAccount({ ctx, org, caller }, body)))
  },
})

const updateServiceAccountRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/service_accounts/:service_account',
  summary:
    'Update a service account; owner_ids replaces the owners, and a new administrator loses its tokens',
  scope: 'write_organizations',
  permission: 'admin',
  body: UpdateServiceAccount,
  changesAccess: true,
  answers: { 200: ServiceAccount },
  errors: {
    403: 'The caller is no administrator, or is the service account itself.',
    422: 'An owner is no person of the organization.',
  },
  async handler({ ctx, org, caller, params, body }) {
    const account = await updateServiceAccount({ ctx, org, caller }, params.service_account, body)
    return ok(presentServiceAccount(account))
  },
})

const deleteServiceAccountRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/service_accounts/:service_account',
  summary: 'Delete a service account and revoke its tokens; its builds stay',
  scope: 'write_organizations',
  permission: 'admin',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteServiceAccount({ ctx, org, caller }, params.service_account)
    return noContent()
  },
})

export const serviceAccountRoutes = [
  listServiceAccountsRoute,
  getServiceAccountRoute,
  createServiceAccountRoute,
  updateServiceAccountRoute,
  deleteServiceAccountRoute,
]
