import { Type } from 'typebox'
import { serviceScopes } from '../../../auth/scopes.ts'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import { presentTokenIssuer } from './present.ts'
import * as issuers from './queries.ts'
import * as bodies from './schema.ts'
import { createTokenIssuer, deleteTokenIssuer, updateTokenIssuer } from './save.ts'

const refusals = {
  403: 'The caller is no administrator, lacks a scope, or is the service account itself.',
  422: 'The issuer is no https URL, a key is not public, a claim says nothing of who it is, or there is no such service account.',
}

const listTokenIssuersRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/token_issuers',
  summary: 'List the authorities whose tokens are exchanged, oldest first',
  scope: 'read_organizations',
  permission: 'admin',
  paging: 'pages',
  answers: { 200: Type.Array(bodies.TokenIssuer) },
  async handler({ ctx, org, url }) {
    const page = readPage(url)
    const rows = await issuers.listInOrg(ctx.db, org.id, page)
    return pageAnswer(page, rows, (row) => presentTokenIssuer(ctx.config.url, org.slug, row))
  },
})

const getTokenIssuerRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/token_issuers/:token_issuer',
  summary: 'Get an authority whose tokens are exchanged',
  scope: 'read_organizations',
  permission: 'admin',
  answers: { 200: bodies.TokenIssuer },
  async handler({ ctx, org, params }) {
    const issuer = await issuers.getInOrg(ctx.db, org.id, params.token_issuer)
    return ok(presentTokenIssuer(ctx.config.url, org.slug, issuer))
  },
})

const createTokenIssuerRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/token_issuers',
  summary: 'Give tokens of a service account for those of an authority',
  scope: 'write_organizations',
  permission: 'admin',
  body: bodies.createTokenIssuer(serviceScopes),
  answers: { 201: bodies.TokenIssuer },
  errors: refusals,
  async handler({ ctx, org, caller, body }) {
    const issuer = await createTokenIssuer({ ctx, org, caller }, body)
    return created(presentTokenIssuer(ctx.config.url, org.slug, issuer))
  },
})

const updateTokenIssuerRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/token_issuers/:token_issuer',
  summary: 'Update an authority whose tokens are exchanged; tokens that were given for its own end',
  scope: 'write_organizations',
  permission: 'admin',
  body: bodies.updateTokenIssuer(serviceScopes),
  changesAccess: true,
  answers: { 200: bodies.TokenIssuer },
  errors: refusals,
  async handler({ ctx, org, caller, params, body }) {
    const issuer = await updateTokenIssuer({ ctx, org, caller }, params.token_issuer, body)
    return ok(presentTokenIssuer(ctx.config.url, org.slug, issuer))
  },
})

const deleteTokenIssuerRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/token_issuers/:token_issuer',
  summary: 'Exchange no more tokens of an authority; tokens that were given for its own end',
  scope: 'write_organizations',
  permission: 'admin',
  changesAccess: true,
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteTokenIssuer({ ctx, org, caller }, params.token_issuer)
    return noContent()
  },
})

export const tokenIssuerRoutes = [
  listTokenIssuersRoute,
  getTokenIssuerRoute,
  createTokenIssuerRoute,
  updateTokenIssuerRoute,
  deleteTokenIssuerRoute,
]
