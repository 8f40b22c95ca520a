import { Type } from 'typebox'
import { created, noContent, ok } from '../../../http/answer.ts'
import { pageAnswer, readPage } from '../../../http/paging.ts'
import { route } from '../../../http/route.ts'
import * as clusters from '../clusters/queries.ts'
import { createSecret } from './create.ts'
import { deleteSecret } from './delete.ts'
import { presentSecret } from './present.ts'
import * as secrets from './queries.ts'
import { CreateSecret, Secret, UpdateSecret, UpdateSecretValue } from './schema.ts'
import { updateSecret, updateSecretValue } from './update.ts'

const listSecretsRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/secrets',
  summary: 'List the secrets of a cluster, oldest first, without their values',
  scope: 'read_secrets_details',
  permission: 'manage_cluster',
  paging: 'pages',
  answers: { 200: Type.Array(Secret) },
  async handler({ ctx, org, params, url }) {
    await clusters.getInOrg(ctx.db, org.id, params.cluster)
    const page = readPage(url)
    const rows = await secrets.listInCluster(ctx.db, org.id, params.cluster, page)
    return pageAnswer(page, rows, (row) => presentSecret(ctx.config.url, org, row))
  },
})

const getSecretRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/clusters/:cluster/secrets/:secret',
  summary: 'Get a secret without its value',
  scope: 'read_secrets_details',
  permission: 'manage_cluster',
  answers: { 200: Secret },
  async handler({ ctx, org, params }) {
    const secret = await secrets.getInCluster(ctx.db, org.id, params.cluster, params.secret)
    return ok(presentSecret(ctx.config.url, org, secret))
  },
})

const createSecretRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/clusters/:cluster/secrets',
  summary: 'Create a secret',
  scope: 'write_secrets',
  permission: 'manage_cluster',
  body: CreateSecret,
  answers: { 201: Secret },
  errors: { 422: 'The body or the policy is not valid, or the key is taken.' },
  async handler({ ctx, org, caller, params, body }) {
    const secret = await createSecret({ ctx, org, caller }, params.cluster, body)
    return created(presentSecret(ctx.config.url, org, secret))
  },
})

const updateSecretRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/clusters/:cluster/secrets/:secret',
  summary: 'Update the description and the policy of a secret',
  scope: 'write_secrets',
  permission: 'manage_cluster',
  body: UpdateSecret,
  answers: { 200: Secret },
  errors: { 422: 'The body or the policy is not valid, or it names the key or the value.' },
  async handler({ ctx, org, caller, params, body }) {
    const secret = await updateSecret({ ctx, org, caller }, params.cluster, params.secret, body)
    return ok(presentSecret(ctx.config.url, org, secret))
  },
})

const updateSecretValueRoute = route({
  method: ['PUT', 'PATCH'],
  url: '/v2/organizations/:org/clusters/:cluster/secrets/:secret/value',
  summary: 'Replace the value of a secret',
  scope: 'write_secrets',
  permission: 'manage_cluster',
  body: UpdateSecretValue,
  answers: { 200: Secret },
  async handler({ ctx, org, caller, params, body }) {
    const { cluster, secret: id } = params
    const secret = await updateSecretValue({ ctx, org, caller }, cluster, id, body.value)
    return ok(presentSecret(ctx.config.url, org, secret))
  },
})

const deleteSecretRoute = route({
  method: 'DELETE',
  url: '/v2/organizations/:org/clusters/:cluster/secrets/:secret',
  summary: 'Delete a secret',
  scope: 'write_secrets',
  permission: 'manage_cluster',
  answers: { 204: null },
  async handler({ ctx, org, caller, params }) {
    await deleteSecret({ ctx, org, caller }, params.cluster, params.secret)
    return noContent()
  },
})

export const secretRoutes = [
  listSecretsRoute,
  getSecretRoute,
  createSecretRoute,
  updateSecretRoute,
  updateSecretValueRoute,
  deleteSecretRoute,
]
