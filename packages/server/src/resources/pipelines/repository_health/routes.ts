import { ok } from '../../../http/answer.ts'
import { route } from '../../../http/route.ts'
import { refused } from '../../../lib/errors.ts'
import { testWebhook } from '../pipelines/host-webhook.ts'
import * as pipelines from '../pipelines/queries.ts'
import * as health from './queries.ts'
import { RepositoryHealth } from './schema.ts'
import { showHealth } from './show.ts'

const getRepositoryHealthRoute = route({
  method: 'GET',
  url: '/v2/organizations/:org/pipelines/:pipeline/repository_health',
  summary:
    'Get whether the pushes of a repository are heard of: the webhook at its host, the last delivery, and what no delivery told',
  scope: 'read_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: RepositoryHealth },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    return ok(await showHealth(ctx, org.id, pipeline))
  },
})

const reconcileRepositoryRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/repository_health/reconcile',
  summary: 'Ask the repository at once for pushes that no delivery told of',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: RepositoryHealth },
  callsOut: true,
  errors: { 422: 'No delivery has come yet, and the pipeline is not polled.' },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    const isAsked = await health.askNow(ctx.db, org.id, pipeline.id, ctx.now().toISOString())
    if (!isAsked) throw refused('The repository is asked from the first delivery on; none has come yet.')
    return ok(await showHealth(ctx, org.id, pipeline))
  },
})

const testRepositoryWebhookRoute = route({
  method: 'POST',
  url: '/v2/organizations/:org/pipelines/:pipeline/repository_health/test',
  summary: 'Have the host of the repository send its own test of the webhook',
  scope: 'write_pipelines',
  permission: 'edit_pipeline',
  answers: { 200: RepositoryHealth },
  callsOut: true,
  errors: {
    422: 'No connection with a token belongs to the host, the webhook is not registered, or the host has no test or refuses.',
  },
  async handler({ ctx, org, caller, params }) {
    const pipeline = await pipelines.getBySlug(ctx.db, org, caller, params.pipeline)
    await testWebhook({ ctx, org, caller }, pipeline)
    return ok(await showHealth(ctx, org.id, pipeline))
  },
})

export const repositoryHealthRoutes = [
  getRepositoryHealthRoute,
  reconcileRepositoryRoute,
  testRepositoryWebhookRoute,
]
